"""A GPU that proves on the CPU, and proofs by it through an engine."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import (
    CircuitSpec,
    Engine,
    ProofRequest,
)
from groth16.prover import Sums, multiply_all
from groth16.quotient import quotient
from groth16.synthesis import synthesize
from kernels.cpu.ntt import domain_of
from kernels.parallel import Run, serial
from policy import (
    Device,
)
from tests.engine.support import CONFIG, Rows, limits_for, run

GPU = Device("gpu0", 2, 1 << 30)
Fault = Callable[[int], None]


class FakeGpu:
    """Makes a proof's sums as a device does, but on the CPU; `fault` hears before how often it was asked."""

    def __init__(self, fault: Fault = lambda _: None, is_wrong: bool = False) -> None:
        self.calls, self.closed = 0, False
        self.kept: list[str] = []  # keys
        self.sent: list[str] = []
        self._fault, self._is_wrong = fault, is_wrong
        self._lock = threading.Lock()

    def sums(
        self, entry_key: str, key: Any, matrices: Any, witness: Any, evaluations: Any, _run: Run
    ) -> Sums:
        assert entry_key.startswith("srs:")
        assert evaluations is None, "the device makes them"
        with self._lock:
            self.calls += 1
            call = self.calls
            if entry_key not in self.kept:
                self.kept.append(entry_key)
                self.sent.append(entry_key)
        self._fault(call)
        header = key.header
        made = synthesize(matrices, witness, header.domain_size, serial)
        domain = domain_of(header.curve.fr, header.domain_size.bit_length() - 1)
        sums = multiply_all(key, witness, quotient(domain, made, serial), serial)
        return replace(sums, c=sums.a) if self._is_wrong else sums

    def evict(self, entry_key: str) -> None:
        self.kept.remove(entry_key)

    def free_evicted(self) -> None:
        pass

    def held_bytes(self) -> int:
        return 17

    def close(self) -> None:
        self.closed = True


def prove(
    spec: CircuitSpec, folder: Path, proofs: int, at_once: int = 1, gpus: tuple[Device, ...] = (GPU,)
) -> Rows:
    rows = Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, at_once, devices=gpus), rows) as running:
            ids = [running.submit(ProofRequest(spec, str(n), folder / str(n))) for n in range(proofs)]
            for proof_id in ids:
                await running.result(proof_id)

    run(steps())
    return rows
