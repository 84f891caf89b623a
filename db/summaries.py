"""Sums over a run's partitions: for each, the seconds of its stages and its bytes, in columns of floats.

Percentiles over a million partitions are asked of these columns: as rows they would be seven million stages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Double, func, select, type_coerce

from db.models import Partition, Proof, Stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STAGES = ("wait", "load", "synthesize", "queue", "prove", "verify")
COLUMNS = (*STAGES, "reserved_bytes", "measured_bytes")
"""Of `Summary.columns`: seconds in each stage, and bytes. A stage that came twice is summed."""

FLOAT_BYTES = 4

Group = tuple[str, str, str]  # circuit, device, state


def encode_columns(rows: Iterable[Iterable[float | None]]) -> bytes:
    """Rows of COLUMNS, one a partition, as little-endian float32, column after column; None becomes NaN."""
    import numpy as np  # here, as below: most questions need not load it

    table = np.array([list(row) for row in rows], dtype=np.float64)
    return bytes(np.ascontiguousarray(table.T, dtype="<f4").tobytes())


def decode_columns(packed: bytes, columns: Sequence[str] = COLUMNS) -> NDArray[np.float32]:
    """The packed columns, all or those named, as an array of (columns, partitions)."""
    import numpy as np

    values: NDArray[np.float32] = np.frombuffer(packed, dtype="<f4")
    return values.reshape(len(columns), -1)


def summaries_of(connection: Connection, run_id: str) -> list[dict[str, Any]]:
    """The rows of Summary for a run, from its partitions and stages as they are."""
    seconds, waits_s = _stage_seconds(connection, run_id)
    groups: dict[Group, list[list[float | None]]] = defaultdict(list)
    group_waits: dict[Group, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for partition_id, circuit, device, state, reserved_bytes, measured_bytes in connection.execute(
        _partitions(run_id)
    ):
        group = (circuit, device or "", state)
        stages = seconds.get(partition_id, {})
        groups[group].append([*map(stages.get, STAGES), reserved_bytes, measured_bytes])
        for cause, waited_s in waits_s.get(partition_id, {}).items():
            group_waits[group][cause] += waited_s
    return [
        {
            "run_id": run_id,
            "circuit": circuit,
            "device": device,
            "state": state,
            "partition_count": len(rows),
            "waits_s": dict(group_waits[circuit, device, state]),
            "columns": encode_columns(rows),
        }
        for (circuit, device, state), rows in groups.items()
    ]


def _partitions(run_id: str) -> Any:
    columns = (Partition.id, Proof.circuit, Partition.device, Partition.state)
    sizes = (Partition.reserved_bytes, Partition.measured_bytes)
    joined = select(*columns, *sizes).join(Proof, Partition.proof_id == Proof.id)
    return joined.where(Proof.run_id == run_id).order_by(Partition.id)


ByPartition = dict[str, dict[str, float]]


def _stage_seconds(connection: Connection, run_id: str) -> tuple[ByPartition, ByPartition]:
    """By partition: seconds of each stage that ended, and of waits by their cause."""
    total = type_coerce(func.sum(Stage.ended_s - Stage.started_s), Double)
    asked = (
        select(Stage.partition_id, Stage.name, Stage.wait_cause, total)
        .join(Partition, Stage.partition_id == Partition.id)
        .join(Proof, Partition.proof_id == Proof.id)
        .where(Proof.run_id == run_id, Stage.ended_s.is_not(None))
        .group_by(Stage.partition_id, Stage.name, Stage.wait_cause)
    )
    seconds: ByPartition = defaultdict(lambda: defaultdict(float))
    waits_s: ByPartition = defaultdict(lambda: defaultdict(float))
    for partition_id, stage, cause, lasted_s in connection.execute(asked):
        seconds[partition_id][stage] += lasted_s
        if cause is not None:
            waits_s[partition_id][cause] += lasted_s
    return seconds, waits_s
