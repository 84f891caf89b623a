"""A run's rows in the history: what a client saw, beside what its daemon records of the same proofs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.monitor import ProcessSample
from bench.outcome import Outcome, State
from bench.run_folder import versions
from config import Config
from db import (
    DeviceSample,
    HistoryWriter,
    Machine,
    MemorySample,
    Partition,
    PoolSample,
    Proof,
    Run,
    RunState,
    Settings,
    Stage,
    new_id,
)
from engine.limits import memory
from engine.recorder import describe

_STATES: dict[State, Any] = {state: state for state in ("succeeded", "failed", "cancelled")} | {
    "open": "interrupted"
}


class Record:
    """One run. Its rows have the source "bench", so that nobody counts a proof twice."""

    def __init__(self, writer: HistoryWriter, run_id: str) -> None:
        self._writer, self._run_id = writer, run_id
        self._samples = self._device_samples = self._pool_samples = 0
        self._peaks = {"rss": 0, "reserved": 0}

    def started(
        self, name: str, config: Config, budget_bytes: int | None, proofs: int | None, folder: Path
    ) -> None:
        """The run, and what it depends on."""
        found = memory()
        machine, settings = Machine.of(describe(found)), Settings.of(config.snapshot())
        self._writer.insert(machine, settings)
        run = Run(
            id=self._run_id,
            source="bench",
            name=name,
            proof_count=proofs,
            budget_bytes=budget_bytes,
            available_bytes=found.available_bytes,
            machine_id=machine.id,
            config_id=settings.id,
            code_version=versions().get("cuzk", "unknown"),
            output_path=str(folder),
        )
        self._writer.insert(run)

    def sample(self, sample: ProcessSample, reserved_bytes: int) -> None:
        """What the monitor saw."""
        self._peaks = {
            "rss": max(self._peaks["rss"], sample.rss_bytes),
            "reserved": max(self._peaks["reserved"], reserved_bytes),
        }
        seen = MemorySample(
            run_id=self._run_id,
            sequence=self._samples,
            at_s=sample.at_s,
            rss_bytes=sample.rss_bytes,
            reserved_bytes=reserved_bytes,
            file_bytes=sample.file_bytes,
            pss_bytes=sample.pss_bytes,
        )
        self._samples += 1
        self._writer.insert(seen)
        for gpu in sample.gpus:
            held_bytes = gpu.used_bytes if gpu.process_bytes is None else gpu.process_bytes
            device = DeviceSample(
                run_id=self._run_id,
                sequence=self._device_samples,
                device=gpu.name,
                at_s=sample.at_s,
                held_bytes=held_bytes,
                reserved_bytes=0,
            )
            self._device_samples += 1
            self._writer.insert(device)
        for pool, use in sample.pools.items():
            values = {"pool": pool, "threads": use.threads, "cores": use.cores}
            row = {"run_id": self._run_id, "sequence": self._pool_samples, "at_s": sample.at_s, **values}
            self._pool_samples += 1
            self._writer.insert_values(PoolSample, [row])

    def proof(self, outcome: Outcome) -> None:
        """A proof that has ended, with its partitions and their stages."""
        partitions = sorted({span.partition for span in outcome.spans})
        proof = Proof(
            id=new_id(),
            run_id=self._run_id,
            name=outcome.name,
            circuit=outcome.circuit,
            partition_count=max(1, len(partitions)),
            state=_STATES[outcome.state],
            submitted_s=outcome.asked_s,
            ended_s=outcome.ended_s,
            error=outcome.error or None,
        )
        self._writer.insert(proof)
        rows = {
            index: Partition(
                proof_id=proof.id,
                index=index,
                state=_STATES[outcome.state],
                device=outcome.devices.get(index),
            )
            for index in partitions
        }
        self._writer.insert(*rows.values(), *self._stages(outcome, rows))

    def ended(self, state: RunState, error: str | None) -> None:
        """The run is over."""
        self._writer.update(
            Run,
            self._run_id,
            state=state,
            ended_at=datetime.now(UTC),
            error=error,
            peak_rss_bytes=self._peaks["rss"] or None,
            peak_reserved_bytes=self._peaks["reserved"] or None,
        )

    def _stages(self, outcome: Outcome, rows: dict[int, Partition]) -> Sequence[Stage]:
        counts = dict.fromkeys(rows, 0)
        stages = []
        for span in outcome.with_waits():
            stages.append(
                Stage(
                    partition_id=rows[span.partition].id,
                    sequence=counts[span.partition],
                    name=span.stage,  # type: ignore[arg-type]  # one of the daemon's stages or a wait
                    started_s=span.started_s,
                    ended_s=span.ended_s,
                )
            )
            counts[span.partition] += 1
        return stages
