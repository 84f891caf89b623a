"""What is done with the rows of a run once it is over, so that a history stays small and questions quick.

The policy's log is compressed, its decisions and cache events are unfolded into tables, samples are thinned,
and partitions summed up. Each run in one transaction: whoever is interrupted has packed it or not.
Log and samples of a run that goes on for months, as a daemon's does, are packed while it does.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, delete, insert, select, update

from db.connect import write_transaction
from db.log_models import (
    CacheEvent,
    Decision,
    DeviceSample,
    MemorySample,
    PolicyEvent,
    PolicyLog,
    PoolSample,
    Summary,
)
from db.models import Partition, Proof, Run
from db.policy_log import PACK, pack, unpack
from db.summaries import summaries_of
from db.unfold import unfold

MOST_SAMPLES, FEWEST_SAMPLES, SAMPLES_A_PARTITION = 2_000, 250, 2
_CHUNK = 10_000
_MANY = 100

_log = logging.getLogger("cuzk.history")

T = TypeVar("T")
Values = dict[str, Any]
Samples = type[MemorySample] | type[DeviceSample] | type[PoolSample]


def pack_ended_runs(engine: Engine) -> list[str]:
    """Pack every run that is over and is not packed, and return their ids."""
    waiting = select(Run.id).where(Run.packed.is_(False), Run.state != "running").order_by(Run.started_at)
    with engine.connect() as connection:
        run_ids = list(connection.scalars(waiting))
    if len(run_ids) > _MANY:
        _log.warning("summing up %s runs of the history, this once", len(run_ids))
    return [run_id for run_id in run_ids if _pack_alone(engine, run_id)]


def pack_going_on(engine: Engine, run_id: str) -> None:
    """Pack of a run that goes on what is as it will be: its log in whole packs, and the samples so far."""
    with write_transaction(engine) as connection:
        _thin_samples(connection, run_id)
        _drop_what_is_packed(connection, run_id)
    more = True
    while more:  # each in a transaction of its own: who writes the run waits for one at most
        with write_transaction(engine) as connection:
            more = _pack_some(connection, run_id, {}, whole=True)


def _pack_alone(engine: Engine, run_id: str) -> bool:
    with write_transaction(engine) as connection:
        again = select(Run.id).where(Run.id == run_id, Run.packed.is_(False)).with_for_update()
        if connection.scalar(again) is None:
            return False  # another process was faster
        _pack_log(connection, run_id)
        _thin_samples(connection, run_id)
        connection.execute(delete(Summary).where(Summary.run_id == run_id))
        _insert(connection, Summary, summaries_of(connection, run_id))
        connection.execute(update(Run).where(Run.id == run_id).values(packed=True))
        return True


def _pack_log(connection: Connection, run_id: str) -> None:
    _drop_what_is_packed(connection, run_id)
    proof_ids = _proof_ids(connection, run_id)
    while _pack_some(connection, run_id, proof_ids):
        pass


def _drop_what_is_packed(connection: Connection, run_id: str) -> None:
    """Events that were packed and came once more, from where they were kept while the database was away."""
    of_run = select(PolicyLog.packed).where(PolicyLog.run_id == run_id)
    last = connection.scalar(of_run.order_by(PolicyLog.sequence.desc()).limit(1))
    if last is not None:
        *_, event = unpack(last)
        packed = (PolicyEvent.run_id == run_id, PolicyEvent.sequence <= event["sequence"])
        connection.execute(delete(PolicyEvent).where(*packed))


def _pack_some(
    connection: Connection, run_id: str, proof_ids: Mapping[str, str], whole: bool = False
) -> bool:
    """Pack the first events of the log that are not; False where there are none, or `whole` and too few."""
    columns = (PolicyEvent.sequence, PolicyEvent.at_s, PolicyEvent.event, PolicyEvent.decisions)
    logged = select(*columns).where(PolicyEvent.run_id == run_id).order_by(PolicyEvent.sequence).limit(PACK)
    events = [row._asdict() for row in connection.execute(logged)]
    if not events or (whole and len(events) < PACK):
        return False
    first, last = (events[each]["sequence"] for each in (0, -1))
    _insert(connection, PolicyLog, [{"run_id": run_id, "sequence": first, "packed": pack(events)}])
    unfolded = [
        (model, {"run_id": run_id, **row}) for each in events for model, row in unfold(each, proof_ids)
    ]
    for model in (Decision, CacheEvent):
        _insert(connection, model, [row for kind, row in unfolded if kind is model])
    packed = (PolicyEvent.run_id == run_id, PolicyEvent.sequence <= last)
    connection.execute(delete(PolicyEvent).where(*packed))
    return True


def _proof_ids(connection: Connection, run_id: str) -> dict[str, str]:
    """The ids of proofs by what the log calls them: their name in a simulated run; in a real one their id."""
    simulated = select(Proof.name, Proof.id).join(Run).where(Proof.run_id == run_id, Run.source == "sim")
    return {row.name: row.id for row in connection.execute(simulated)}


def _thin_samples(connection: Connection, run_id: str) -> None:
    """Keep the first sample, the last, and of each span of time those with the most of what they count."""
    most = _most_samples(connection, run_id)
    memory = _samples(connection, run_id, MemorySample)
    _keep(connection, run_id, MemorySample, memory, kept_samples(memory, most))
    _thin_each(connection, run_id, DeviceSample, "device", most, ("held_bytes", "reserved_bytes"))
    _thin_each(connection, run_id, PoolSample, "pool", most, ("threads", "cores"))


def _thin_each(
    connection: Connection, run_id: str, model: Samples, of: str, most: int, counted: tuple[str, str]
) -> None:
    """The same for samples of several things, each by itself."""
    samples = _samples(connection, run_id, model)
    kept: set[int] = set()
    for thing in {each[of] for each in samples}:
        kept |= kept_samples([each for each in samples if each[of] == thing], most, counted)
    _keep(connection, run_id, model, samples, kept)


def _samples(connection: Connection, run_id: str, model: Samples) -> list[Values]:
    table = model.__table__
    taken = select(table).where(table.c.run_id == run_id).order_by(table.c.at_s)
    return [row._asdict() for row in connection.execute(taken)]


def _keep(
    connection: Connection, run_id: str, model: Samples, samples: Sequence[Values], kept: set[int]
) -> None:
    table = model.__table__
    gone = [each["sequence"] for each in samples if each["sequence"] not in kept]
    for some in _chunks(gone, _CHUNK):
        of_run = table.c.run_id == run_id
        connection.execute(delete(model).where(of_run, table.c.sequence.in_(some)))


def _most_samples(connection: Connection, run_id: str) -> int:
    of_run = select(Partition.id).join(Proof, Partition.proof_id == Proof.id).where(Proof.run_id == run_id)
    partitions = len(connection.scalars(of_run.limit(MOST_SAMPLES)).all())
    return min(MOST_SAMPLES, FEWEST_SAMPLES + SAMPLES_A_PARTITION * partitions)


def kept_samples(
    samples: Sequence[Mapping[str, Any]],
    most: int,
    counted: tuple[str, str] = ("rss_bytes", "reserved_bytes"),
) -> set[int]:
    """The numbers of the samples to keep, `most` at most, of samples in the order of time."""
    if len(samples) <= most:
        return {each["sequence"] for each in samples}
    ends = [samples[0], samples[-1]]
    begin_s, span_s = samples[0]["at_s"], samples[-1]["at_s"] - samples[0]["at_s"]
    spans = (most - len(ends)) // 2
    largest: dict[tuple[int, str], Mapping[str, Any]] = {}
    for each in samples:
        span = int((each["at_s"] - begin_s) / span_s * spans) if span_s else 0
        for name in counted:
            key = (min(span, spans - 1), name)
            if key not in largest or (each[name] or 0) > (largest[key][name] or 0):
                largest[key] = each
    return {each["sequence"] for each in (*ends, *largest.values())}


def _insert(connection: Connection, model: type[Any], rows: Sequence[Values]) -> None:
    for some in _chunks(rows, _CHUNK):
        connection.execute(insert(model.__table__), some)


def _chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk
