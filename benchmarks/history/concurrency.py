"""Processes that write to one SQLite file at once, each as a batch of its own would."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from db import list_runs, open_history

PROOFS_A_RUN = 20
WRITES = f"""
import sys, time, db
runs = 0
with db.open_history(sys.argv[1]) as history, history.writer() as writer:
    end_s = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end_s:
        run = db.Run(source="real", name="batch", code_version="1", state="succeeded", packed=True)
        writer.insert(run)
        for number in range({PROOFS_A_RUN}):
            proof = db.Proof(run_id=run.id, name=str(number), circuit="c", submitted_s=0.0)
            writer.insert(proof, db.Partition(proof_id=proof.id, index=0))
            writer.update(db.Proof, proof.id, state="succeeded", ended_s=1.0)
            writer.flush()
        runs += 1
    error = writer.close()
print(runs)
sys.exit(str(error) if error else 0)
"""


@dataclass(frozen=True)
class Written:
    """What the processes wrote, and what of it is missing; `failed`: those that lost something or said so."""

    processes: int
    runs: int
    rows_missing: int
    failed: list[str]

    def told(self) -> str:
        proofs = self.runs * PROOFS_A_RUN
        said = f"; {self.failed[0]}" if self.failed else ""
        return (
            f"{self.processes} processes wrote {self.runs} runs, each proof in transactions of its own:"
            f" {self.rows_missing} of {proofs} proofs missing, {len(self.failed)} processes failed{said}"
        )


def write_at_once(processes: int, seconds: float) -> Written:
    """Start them all on one new file, and count what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "h.db")
        command = [sys.executable, "-c", WRITES, path, str(seconds)]
        running = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        said = [process.communicate() for process in running]
        failed = [error.strip() for _, error in said if error]
        runs = sum(int(output or 0) for output, _ in said)
        with open_history(path) as history:
            kept = sum(each.succeeded_count for each in list_runs(history, limit=10**6))
    return Written(processes, runs, runs * PROOFS_A_RUN - kept, failed)
