"""A workload as people write it, in TOML."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from config import nearest
from policy import Priority
from sim.arrivals import Arrivals, Cron, Periodic, Poisson, Times, Trace
from sim.circuits import CircuitSizes, PriorityName, SimCircuit, bundled_circuits
from sim.errors import SimError
from sim.faults import Faults
from sim.quantities import DurationS, PassingS, PerSecond
from sim.toml_files import read_toml, validated
from sim.traces import read_trace
from sim.workload import START, Batch, ClosedLoop, OpenLoop, Workload

Count = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
EXAMPLE = Path(__file__).parent / "workloads" / "storage-provider.toml"
TIMINGS = ("poisson", "every", "cron", "trace", "run")
OF_TIMING = {"timezone": "cron", "offset": "every"}
"""What only one of them goes by."""
FIELDS = 5  # of a crontab's line
FindCircuit = Callable[[str], SimCircuit | None]
"""Of a name that is neither in the file nor bundled."""
FindRun = Callable[[str, str], Sequence[float]]
"""When proofs of a circuit were submitted in a run of the history, in seconds since its start."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BatchTable(_Table):
    """Of a closed loop: `count` proofs, `concurrency` at a time."""

    circuit: str
    count: Count
    concurrency: Count = 1
    partitions: Count | None = None
    priority: PriorityName | None = None


class ArrivalsTable(_Table):
    """Of an open loop: one of TIMINGS says when `count` proofs arrive.

    `trace` is a CSV file with a column "at_s", and "circuit" where several take theirs from the same file.
    `run` is a run of the history, whose proofs of the circuit arrive as they did then.
    """

    circuit: str
    poisson: PerSecond | None = None
    every: PassingS | None = None
    offset: DurationS = 0.0
    cron: str | None = None
    timezone: str = "UTC"
    trace: Path | None = None
    run: str | None = None
    count: Count = 1
    deadline: PassingS | None = None
    partitions: Count | None = None
    priority: PriorityName | None = None

    @model_validator(mode="after")
    def _one_timing(self) -> Self:
        given = [name for name in TIMINGS if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"found {found} of {', '.join(TIMINGS)}, expected one of them")
        for name, timing in OF_TIMING.items():
            if name in self.model_fields_set and given != [timing]:
                raise ValueError(
                    f"{name} changes nothing beside {given[0]}, only beside {timing}; leave it out"
                )
        return self

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f'found {name!r}, expected a time zone such as "Europe/Berlin"') from error
        return name

    @field_validator("cron")
    @classmethod
    def _readable_cron(cls, line: str | None) -> str | None:
        from cronsim import CronSim, CronSimError

        if line is not None and len(line.split()) != FIELDS:  # of six the first would be seconds
            raise ValueError(
                f"found {line!r}, expected the {FIELDS} fields minute, hour, day, month and weekday, "
                'such as "*/30 * * * *"'
            )
        try:
            if line is not None:
                CronSim(line, START)
        except CronSimError as error:
            raise ValueError(f'found {line!r} ({error}), expected a line such as "*/30 * * * *"') from error
        return line


class WorkloadTable(_Table):
    """The whole file. A closed workload has [[batches]] and an open one [[arrivals]], never both."""

    kind: Literal["closed", "open"]
    duration: PassingS | None = None
    start: datetime = START
    batches: tuple[BatchTable, ...] = ()
    arrivals: tuple[ArrivalsTable, ...] = ()
    circuits: dict[str, CircuitSizes] = {}
    faults: Faults = Faults()

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        mine, other = ("batches", "arrivals") if self.kind == "closed" else ("arrivals", "batches")
        if getattr(self, other):
            raise ValueError(f'kind is "{self.kind}" and there are [[{other}]], expected [[{mine}]] alone')
        if not getattr(self, mine):
            raise ValueError(f'kind is "{self.kind}" and there are no [[{mine}]], expected some')
        if self.kind == "closed" and "start" in self.model_fields_set:
            raise ValueError('start changes nothing where kind is "closed"; leave it out')
        if (self.duration is None) == (self.kind == "open"):
            hint = "lacks a duration" if self.kind == "open" else "has a duration, though it ends by itself"
            raise ValueError(f'kind is "{self.kind}" and {hint}')
        return self

    @field_validator("start")
    @classmethod
    def _with_zone(cls, start: datetime) -> datetime:
        return start if start.tzinfo else start.replace(tzinfo=UTC)


def bundled_workloads() -> dict[str, Path]:
    """The workloads that come with the program, by name."""
    return {path.stem: path for path in sorted(EXAMPLE.parent.glob("*.toml"))}


def read_workload_table(path: Path) -> WorkloadTable:
    """The file's contents. Raises SimError."""
    return validated(WorkloadTable, read_toml(path, str(EXAMPLE)), str(path), str(EXAMPLE))


def workload_of(
    table: WorkloadTable,
    folder: Path,
    find: FindCircuit = lambda _: None,
    find_run: FindRun = lambda _run, _circuit: (),
) -> Workload:
    """The workload of a file in `folder`. A circuit is the file's own, a bundled one, or what `find` finds.

    Raises SimError for a circuit that is not known, and for a trace that cannot be read or has none of it.
    """
    own = {name: sizes.named(name) for name, sizes in table.circuits.items()}

    def circuit(name: str) -> SimCircuit:
        found = own.get(name) or bundled_circuits().get(name) or find(name)
        if found is None:
            raise SimError(_unknown(name, {**own, **bundled_circuits()}))
        return found

    if table.kind == "closed":
        return ClosedLoop(tuple(_batch(each, circuit(each.circuit)) for each in table.batches))
    arrivals = tuple(
        _arrivals(each, circuit(each.circuit), _times(each, folder, find_run, _beside(each, table)))
        for each in table.arrivals
    )
    return OpenLoop(arrivals, table.duration or 0.0, table.start)


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    guess = nearest(name, known)
    hint = f"did you mean {guess!r}?" if guess else f"known are {', '.join(known)}"
    return f"circuit {name!r} is not known; {hint} Or give its sizes in [circuits.{name}]"


def _batch(table: BatchTable, circuit: SimCircuit) -> Batch:
    return Batch(
        circuit.shape,
        table.count,
        table.concurrency,
        table.partitions or circuit.partitions,
        circuit.priority if table.priority is None else Priority[table.priority.upper()],
        circuit.constraints,
    )


def _arrivals(table: ArrivalsTable, circuit: SimCircuit, times: Times) -> Arrivals:
    priority = None if table.priority is None else Priority[table.priority.upper()]
    return Arrivals(circuit, times, table.count, table.deadline, priority, table.partitions)


def _beside(arrivals: ArrivalsTable, table: WorkloadTable) -> Collection[str]:
    """The circuits that are taken from the same trace."""
    return {each.circuit for each in table.arrivals if each.trace == arrivals.trace}


def _times(table: ArrivalsTable, folder: Path, find_run: FindRun, circuits: Collection[str]) -> Times:
    if table.poisson is not None:
        return Poisson(table.poisson)
    if table.every is not None:
        return Periodic(table.every, table.offset)
    if table.cron is not None:
        return Cron(table.cron, ZoneInfo(table.timezone))
    if table.trace is not None:
        source, at_s = str(table.trace), read_trace(folder / table.trace, table.circuit, circuits)
    else:
        source = f"run {table.run}"
        at_s = tuple(find_run(table.run or "", table.circuit))
    if not at_s:
        raise SimError(f"{source}: it has no proof of {table.circuit}; choose another")
    return Trace(at_s)
