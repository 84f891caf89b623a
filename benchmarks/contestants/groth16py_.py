"""arkworks' Groth16 on BN254, by the package groth16py: the same keys and witnesses, one thread.

A key is read once, untimed. It returns a proof as bytes and writes no file.
"""

from __future__ import annotations

from importlib.metadata import version

import groth16py

from benchmarks.contestants.serve import Job, serve


def prove(zkey: str, wtns: str, proof: str, public: str) -> Job:  # noqa: ARG001 — it writes neither
    key, _ = groth16py.import_zkey(zkey)
    return Job(lambda: groth16py.prove_wtns(key, wtns))


def setup(r1cs: str, zkey: str, ptau: str) -> Job:  # noqa: ARG001 — it draws its own secrets
    """Single-party, in memory and into a file of the package's own form."""

    def run() -> None:
        key, _ = groth16py.setup(r1cs)
        key.save(zkey)

    return Job(run)


if __name__ == "__main__":
    serve(version("groth16py"), {"prove": prove, "setup": setup})
