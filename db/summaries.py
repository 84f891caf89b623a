"""Sums over a run's partitions: for each, the seconds of its stages and its bytes, in columns of floats.

A run may have a million: they are gone through some thousands at a time, so that little memory is taken.
Percentiles over a million partitions are asked of these columns: as rows they would be seven million stages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Double, func, select, type_coerce

from db.models import Partition, Proof, Stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STAGES = ("wait", "load", "synthesize", "queue", "prove", "verify")
COLUMNS = (*STAGES, "reserved_bytes", "measured_bytes")
"""Of `Summary.columns`: seconds in each stage, and bytes. A stage that came twice is summed."""

FLOAT_BYTES = 4
PROOFS_AT_ONCE = 2_000

Group = tuple[str, str, str]  # circuit, device, state


def encode_columns(rows: Iterable[Iterable[float | None]]) -> bytes:
    """Rows of COLUMNS, one a partition, as little-endian float32, column after column; None becomes NaN."""
    return bytes(_table(rows).tobytes())


def _table(rows: Iterable[Iterable[float | None]]) -> NDArray[np.float32]:
    """The same as an array of (columns, partitions)."""
    import numpy as np  # here, as below: most questions need not load it

    table = np.array([list(row) for row in rows], dtype=np.float64)
    return np.ascontiguousarray(table.T, dtype="<f4")


def decode_columns(packed: bytes, columns: Sequence[str] = COLUMNS) -> NDArray[np.float32]:
    """The packed columns, all or those named, as an array of (columns, partitions)."""
    import numpy as np

    values: NDArray[np.float32] = np.frombuffer(packed, dtype="<f4")
    return values.reshape(len(columns), -1)


def summaries_of(connection: Connection, run_id: str) -> list[dict[str, Any]]:
    """The rows of Summary for a run, from its partitions and stages as they are."""
    import numpy as np

    tables: dict[Group, list[NDArray[np.float32]]] = defaultdict(list)
    group_waits: dict[Group, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for some in _some_proofs(connection, run_id):
        for group, rows in _rows(connection, some, group_waits).items():
            tables[group].append(_table(rows))
    columns = {group: np.concatenate(parts, axis=1) for group, parts in tables.items()}
    return [
        {
            "run_id": run_id,
            "circuit": circuit,
            "device": device,
            "state": state,
            "partition_count": values.shape[1],
            "waits_s": dict(group_waits[circuit, device, state]),
            "columns": bytes(values.tobytes()),
        }
        for (circuit, device, state), values in columns.items()
    ]


Proofs = tuple[ColumnElement[bool], ColumnElement[bool]]


def _some_proofs(connection: Connection, run_id: str) -> Iterator[Proofs]:
    """Conditions that part the run's proofs, in the order of their ids."""
    of_run, last = Proof.run_id == run_id, ""
    while True:
        following = select(Proof.id).where(of_run, Proof.id > last).order_by(Proof.id).limit(PROOFS_AT_ONCE)
        if not (ids := connection.scalars(following).all()):
            return
        last = ids[-1]
        yield of_run, Proof.id.between(ids[0], last)


def _rows(
    connection: Connection, proofs: Proofs, group_waits: dict[Group, dict[str, float]]
) -> dict[Group, list[list[float | None]]]:
    """A row of COLUMNS for each partition of those proofs; their waits are added."""
    seconds, waits_s = _stage_seconds(connection, proofs)
    rows: dict[Group, list[list[float | None]]] = defaultdict(list)
    for partition_id, circuit, device, state, *sizes in connection.execute(_partitions(proofs)):
        group = (circuit, device or "", state)
        stages = seconds.get(partition_id, {})
        rows[group].append([*map(stages.get, STAGES), *sizes])
        for cause, waited_s in waits_s.get(partition_id, {}).items():
            group_waits[group][cause] += waited_s
    return rows


def _partitions(proofs: Proofs) -> Any:
    columns = (Partition.id, Proof.circuit, Partition.device, Partition.state)
    sizes = (Partition.reserved_bytes, Partition.measured_bytes)
    joined = select(*columns, *sizes).join(Proof, Partition.proof_id == Proof.id)
    return joined.where(*proofs).order_by(Partition.id)


ByPartition = dict[str, dict[str, float]]


def _stage_seconds(connection: Connection, proofs: Proofs) -> tuple[ByPartition, ByPartition]:
    """By partition: seconds of each stage that ended, and of waits by their cause."""
    total = type_coerce(func.sum(Stage.ended_s - Stage.started_s), Double)
    asked = (
        select(Stage.partition_id, Stage.name, Stage.wait_cause, total)
        .join(Partition, Stage.partition_id == Partition.id)
        .join(Proof, Partition.proof_id == Proof.id)
        .where(*proofs, Stage.ended_s.is_not(None))
        .group_by(Stage.partition_id, Stage.name, Stage.wait_cause)
    )
    seconds: ByPartition = defaultdict(lambda: defaultdict(float))
    waits_s: ByPartition = defaultdict(lambda: defaultdict(float))
    for partition_id, stage, cause, lasted_s in connection.execute(asked):
        seconds[partition_id][stage] += lasted_s
        if cause is not None:
            waits_s[partition_id][cause] += lasted_s
    return seconds, waits_s
