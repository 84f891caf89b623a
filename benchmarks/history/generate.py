"""Histories of a million partitions: plausible rows, made and written as fast as a database takes them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from db import History
from db.digest import digest
from db.policy_log import pack
from db.summaries import COLUMNS, encode_columns

PARTITIONS_A_RUN = 1_000
SAMPLES_A_RUN = 2_000
CIRCUITS = {"porep-32g": 1.0, "snap-32g": 0.6, "rollup": 0.25, "sha256": 0.1, "merkle": 0.05}
"""By name, their size as a part of the largest."""
DEVICES = ("cuda:0", "cuda:1")
VERSIONS = ("1.0.0", "1.1.0", "1.2.0", "1.2.1")
HOSTS = ("alpha", "beta", "gamma")
STAGES = (
    ("wait", "memory"), ("load", "load"), ("wait", "synthesis slot"), ("synthesize", None),
    ("queue", "device"), ("prove", None), ("verify", None),
)  # fmt: skip
MEAN_S = (2.0, 0.2, 0.05, 3.0, 1.0, 4.0, 0.1)
SLOWER_FROM_VERSION = 1.1  # 1.2.0 proves slower than 1.1.0 by this factor
FAILED = 0.01
GIB = 2**30

Rows = list[tuple[Any, ...]]
COLUMNS_OF = {
    "machine": "id, description",
    "config": "id, settings",
    "run": "id, source, name, state, started_at, ended_at, proof_count, budget_bytes, host, pid,"
    " process_started_at, machine_id, config_id, policy_limits, code_version, peak_rss_bytes,"
    " peak_reserved_bytes, output_path, packed",
    "proof": "id, run_id, name, circuit, priority, partition_count, state, submitted_s, ended_s, proof_path,"
    " error",
    "partition": 'id, proof_id, "index", state, reserved_bytes, measured_bytes, device, wait_cause, error',
    "stage": "partition_id, sequence, name, started_s, ended_s, wait_cause, task_run_id",
    "memory_sample": "run_id, sequence, at_s, rss_bytes, reserved_bytes, file_bytes",
    "policy_log": "run_id, sequence, packed",
    "decision": "run_id, sequence, position, at_s, kind, proof_id, partition_index, reserved_bytes",
    "cache_event": "run_id, sequence, position, at_s, kind, entry, size_bytes",
    "summary": "run_id, circuit, device, state, partition_count, waits_s, columns",
}


@dataclass
class Generator:
    """Rows of run after run, an hour from one to the next, the last one now."""

    runs: int
    random: np.random.Generator
    now: datetime

    def rows_of_run(self, number: int) -> Iterator[tuple[str, Rows]]:
        """The rows of a run by table, parents first."""
        started_at = self.now - timedelta(hours=self.runs - number)
        ids = _ids(started_at)
        run_id, circuit = next(ids), list(CIRCUITS)[number % len(CIRCUITS)]
        version = number * len(VERSIONS) // self.runs
        if number == 0:
            yield from _shared()
        mean_s = np.array(MEAN_S) * CIRCUITS[circuit]
        seconds = self.random.gamma(20, mean_s / 20, (PARTITIONS_A_RUN, len(STAGES)))
        seconds[:, 5] *= SLOWER_FROM_VERSION if version >= 2 else 1.0
        starts = np.sort(self.random.uniform(0, 3000, PARTITIONS_A_RUN))
        ends = starts[:, None] + np.cumsum(seconds, axis=1)
        failed = self.random.random(PARTITIONS_A_RUN) < FAILED
        proof_ids = list(itertools.islice(ids, PARTITIONS_A_RUN))
        part_ids = list(itertools.islice(ids, PARTITIONS_A_RUN))
        yield "run", [_run(run_id, number, circuit, started_at, float(ends.max()), VERSIONS[version])]
        yield (
            "proof",
            [
                _proof(proof_ids[n], run_id, circuit, n, starts[n], ends[n, -1], failed[n])
                for n in range(PARTITIONS_A_RUN)
            ],
        )
        yield (
            "partition",
            [_partition(part_ids[n], proof_ids[n], circuit, n, failed[n]) for n in range(PARTITIONS_A_RUN)],
        )
        yield "stage", list(_stages(part_ids, starts, ends, ids))
        yield (
            "memory_sample",
            [(run_id, n, n * 1.5, 40 * GIB + n * 4096, 60 * GIB, 20 * GIB) for n in range(SAMPLES_A_RUN)],
        )
        yield "policy_log", [(run_id, 0, _log(proof_ids))]
        yield (
            "decision",
            [
                (run_id, 5 * n, 1, float(starts[n]), "admit", proof_ids[n], 0, 14 * GIB)
                for n in range(PARTITIONS_A_RUN)
            ],
        )
        yield "cache_event", [(run_id, 0, 2 + n, 0.0, "load", f"srs:{circuit}:{n}", GIB) for n in range(2)]
        yield "summary", list(_summaries(run_id, circuit, seconds, failed))


def generate(history: History, partitions: int, report: Callable[[str], None]) -> None:
    """Fill an empty history with so many partitions, a thousand a run."""
    runs = partitions // PARTITIONS_A_RUN
    made = Generator(runs, np.random.default_rng(1), datetime.now(UTC))
    connection = history.engine.raw_connection()
    sqlite = history.engine.dialect.name == "sqlite"
    try:
        cursor = connection.cursor()
        for number in range(runs):
            cursor.execute("BEGIN" if sqlite else "SET session_replication_role = replica")  # no checks
            for table, rows in made.rows_of_run(number):
                _insert(cursor, table, rows, sqlite)
            cursor.execute("COMMIT") if sqlite else connection.commit()
            if number % 100 == 99:
                report(f"{(number + 1) * PARTITIONS_A_RUN:,} partitions")
        cursor.execute("ANALYZE")
        connection.commit()
    finally:
        connection.close()


def _insert(cursor: Any, table: str, rows: Rows, sqlite: bool) -> None:
    names = COLUMNS_OF[table]
    if sqlite:
        marks = ", ".join("?" * len(rows[0]))
        cursor.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', rows)
        return
    with cursor.copy(f'COPY "{table}" ({names}) FROM STDIN') as copy:
        for row in rows:
            copy.write_row(row)


def _ids(started_at: datetime) -> Iterator[str]:
    """UUIDs of version 7 in their order."""
    start = int(started_at.timestamp() * 1000) << 80
    for number in itertools.count():
        digits = f"{start + (number // 4 << 80) | 0x7 << 76 | 0b10 << 62 | number:032x}"
        yield f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


MACHINE = {"system": "Linux-6.1", "processor": "x86_64", "cores": 64, "memory_bytes": 2**39}
SETTINGS = {"policy": "budget", "memory": {"total_budget": 400 * GIB}}


def _shared() -> Iterator[tuple[str, Rows]]:
    yield "machine", [(digest(MACHINE), json.dumps(MACHINE))]
    yield "config", [(digest(SETTINGS), json.dumps(SETTINGS))]


def _run(
    run_id: str, number: int, circuit: str, started_at: datetime, seconds: float, version: str
) -> tuple[Any, ...]:
    ended_at = started_at + timedelta(seconds=seconds)
    return (
        run_id, "sim" if number % 10 == 9 else "real", f"{circuit} ×{PARTITIONS_A_RUN}", "succeeded",
        _moment(started_at), _moment(ended_at), PARTITIONS_A_RUN, 400 * GIB, HOSTS[number % len(HOSTS)], 1,
        _moment(started_at), digest(MACHINE), digest(SETTINGS), '{"budget_bytes": 429496729600}', version,
        300 * GIB, 390 * GIB, f"/var/lib/cuzk/proofs/{run_id}", True,
    )  # fmt: skip


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"


def _proof(
    proof_id: str, run_id: str, circuit: str, number: int, start_s: float, end_s: float, failed: bool
) -> tuple[Any, ...]:
    state, path = ("failed", None) if failed else ("succeeded", f"{circuit}-{number}/proof.json")
    error = f"{circuit} #{number + 1}: the device had no memory left" if failed else None
    path = path and f"/var/lib/cuzk/proofs/{run_id}/{path}"
    name = f"{circuit} #{number + 1}"
    return proof_id, run_id, name, circuit, "normal", 1, state, float(start_s), float(end_s), path, error


def _partition(part_id: str, proof_id: str, circuit: str, number: int, failed: bool) -> tuple[Any, ...]:
    state, why = ("failed", "the device had no memory left") if failed else ("succeeded", None)
    waits = "waits for memory: it needs 14GiB, and 9.53GiB of 400GiB are free"
    device = DEVICES[number % len(DEVICES)]
    reserved_bytes, measured_bytes = _bytes(circuit, number)
    return part_id, proof_id, 0, state, int(reserved_bytes), int(measured_bytes), device, waits, why


def _bytes(circuit: str, number: Any) -> tuple[Any, Any]:
    """Reserved and measured bytes of a run's partition, or of many."""
    size = 14 * GIB * CIRCUITS[circuit]
    return size + 0 * number, size * (0.9 + 0.05 * number / PARTITIONS_A_RUN)


def _stages(part_ids: list[str], starts: Any, ends: Any, ids: Iterator[str]) -> Iterator[tuple[Any, ...]]:
    bounds = np.concatenate([starts[:, None], ends], axis=1).tolist()
    for part_id, at_s in zip(part_ids, bounds, strict=True):
        for sequence, (name, cause) in enumerate(STAGES):
            task = next(ids) if cause is None else None
            yield part_id, sequence, name, at_s[sequence], at_s[sequence + 1], cause, task


def _log(proof_ids: list[str]) -> bytes:
    """A log of the right size: what the policy is told of a partition, and decides."""
    kinds = ("Submit", "Synthesized", "QuotientDone", "Proved", "Verified")
    return pack(
        {
            "sequence": 5 * number + step,
            "at_s": number * 3.0 + step * 0.731,
            "event": {"type": kind, "partition": [proof_id, 0]},
            "decisions": [{"type": "Prove", "partition": [proof_id, 0], "device": "cuda:0"}],
        }
        for number, proof_id in enumerate(proof_ids)
        for step, kind in enumerate(kinds)
    )


def _summaries(run_id: str, circuit: str, seconds: Any, failed: Any) -> Iterator[tuple[Any, ...]]:
    names = [name for name, _ in STAGES]
    sums = {name: sum(seconds[:, at] for at, each in enumerate(names) if each == name) for name in names}
    sums["reserved_bytes"], sums["measured_bytes"] = _bytes(circuit, np.arange(len(seconds)))
    table = np.stack([sums[name] for name in COLUMNS], axis=1)
    devices = np.arange(len(seconds)) % len(DEVICES)
    for device, state in itertools.product(range(len(DEVICES)), ("succeeded", "failed")):
        chosen = (devices == device) & (failed == (state == "failed"))
        if not chosen.any():
            continue
        waits_s = {cause: float(seconds[chosen, at].sum()) for at, (_, cause) in enumerate(STAGES) if cause}
        columns = encode_columns(table[chosen])
        yield run_id, circuit, DEVICES[device], state, int(chosen.sum()), json.dumps(waits_s), columns
