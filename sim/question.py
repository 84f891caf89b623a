"""What is asked of the simulator, and the scenario that it comes to under any settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from config import ConfigError
from config.load import checked_config
from config.model import Config
from policy import Limits
from sim.assumed import assumed
from sim.circuits import SimCircuit
from sim.effects import check_effects
from sim.errors import SimError
from sim.faults import Faults
from sim.hardware import Host, Prices
from sim.hosts import ModelledHost, modelled_hosts
from sim.kinds import BUDGET, fixed_at_once
from sim.profile import MachineProfile, with_hosts
from sim.proving import for_limits
from sim.quantities import IN_A_FILE
from sim.scenario import Scenario
from sim.settings import sections, toml_value
from sim.toml_files import said_of
from sim.workload import Workload
from sim.workload_file import (
    OF_TIMING,
    TIMINGS,
    ArrivalsTable,
    BatchTable,
    FindRun,
    WorkloadTable,
    workload_of,
)

M = TypeVar("M", bound=BaseModel)
WORKERS = "gpus.gpu_workers_per_device"
NO_SETTINGS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Question:
    """A workload on a machine. `limits`: this machine's, for a profile without hosts.

    `circuits`: those that the workload names and that are not known by their sizes alone.
    """

    table: WorkloadTable
    folder: Path
    profile: MachineProfile
    config: Config
    policy: str = BUDGET
    limits: Limits | None = None
    circuits: Mapping[str, SimCircuit] = field(default_factory=dict)
    find_run: FindRun = lambda _run, _circuit: ()

    @property
    def loop(self) -> str:
        """Closed or open."""
        return self.table.kind

    def scenario(self, settings: Mapping[str, str] = NO_SETTINGS) -> Scenario:
        """The question under other settings. Raises SimError or ConfigError for one that cannot be."""
        parts = sections(settings)
        config = _with_config(self.config, parts.get("config", {}))
        policy = parts.get("policy", {}).get("", self.policy)
        fixed_at_once(policy)
        hosts = self.hosts(settings)
        workload = self.workload(settings)
        shapes = [each.shape for each in workload.circuits.values()]
        modelled = self._modelled(config, hosts)
        check_effects(settings, self.profile.hosts, hosts, config, self.profile, shapes)
        faults = self.faults(settings)
        prices = _changed(self.profile.prices or Prices(), parts.get("prices", {}), "prices")
        return Scenario(
            workload,
            modelled,
            policy,
            faults,
            sum(map(prices.of, hosts)) if prices != Prices() and hosts else None,
            dict(settings),
        )

    def assumed(self, settings: Mapping[str, str] = NO_SETTINGS) -> list[str]:
        """What neither the profile nor the settings say, in words."""
        shapes = [each.shape for each in self.workload(settings).circuits.values()]
        config = _with_config(self.config, sections(settings).get("config", {}))
        return assumed(self.profile, self.hosts(settings), shapes, config)

    def workload(self, settings: Mapping[str, str] = NO_SETTINGS) -> Workload:
        """What is to be proved under the settings. Raises SimError."""
        return workload_of(self._table(settings), self.folder, self.circuits.get, self.find_run)

    def faults(self, settings: Mapping[str, str] = NO_SETTINGS) -> Faults:
        """What goes wrong under the settings. Raises SimError."""
        return _changed(self._table(settings).faults, sections(settings).get("faults", {}), "faults")

    def _table(self, settings: Mapping[str, str]) -> WorkloadTable:
        return _with_workload(self.table, sections(settings).get("workload", {}))

    def hosts(self, settings: Mapping[str, str] = NO_SETTINGS) -> tuple[Host, ...]:
        """The profile's, as the settings have them."""
        hosts = _with_hosts(self.profile, sections(settings).get("machine", {}))
        if WORKERS in settings:  # it goes before what the profile says
            hosts = tuple(host.model_copy(update={"workers": None}) for host in hosts)
        return hosts

    def _modelled(self, config: Config, hosts: tuple[Host, ...]) -> tuple[ModelledHost, ...]:
        if hosts or self.limits is None:
            return modelled_hosts(self.profile, config, hosts or None)
        budget = config.memory.total_budget
        limits = replace(self.limits, budget_bytes=budget) if isinstance(budget, int) else self.limits
        return (ModelledHost("this machine", limits, for_limits(self.profile, limits)),)


def _with_config(config: Config, changes: Mapping[str, str]) -> Config:
    values = config.model_dump()
    try:
        for key, value in changes.items():
            section, _, name = key.partition(".")
            alone = checked_config({section: {name: toml_value(value)}}, written=True)
            values[section][name] = getattr(getattr(alone, section), name)
        return checked_config(values) if changes else config
    except ConfigError as error:
        raise SimError(f"--set {error}") from error


def _with_hosts(profile: MachineProfile, changes: Mapping[str, str]) -> tuple[Host, ...]:
    if changes and not profile.hosts:
        key = next(iter(changes))
        raise SimError(
            f"--set machine.{key}: profile {profile.name} has no [[hosts]] to be changed; choose another "
            f"--machine, one of {', '.join(with_hosts())}, or a file"
        )
    hosts = list(profile.hosts)
    for key, value in changes.items():
        name, _, last = key.rpartition(".")
        places = [place for place, host in enumerate(hosts) if name in ("", host.name)]
        if not places:
            raise SimError(f"--set machine.{key}: no host is named {name!r}; expected one of "
                           f"{', '.join(host.name for host in hosts)}")  # fmt: skip
        for place in places:
            changed = {"count" if last == "hosts" else last: value}
            hosts[place] = _changed(hosts[place], changed, "machine")
    return tuple(hosts)


def _with_workload(table: WorkloadTable, changes: Mapping[str, str]) -> WorkloadTable:
    # The load last, since it multiplies the rates that others set.
    for key, value in sorted(changes.items(), key=lambda change: change[0] == "load"):
        name, _, last = key.rpartition(".")
        if name and last in ("load", "duration"):
            raise SimError(
                f"--set workload.{key}: it is of the whole workload, not of a circuit; give workload.{last}"
            )
        if last == "duration" and table.kind == "open":
            table = _changed(table, {"duration": value}, "workload")
        elif last == "load":
            table = _with_load(table, value)
        else:
            table = _with_streams(table, name, last, value)
    return table


def _with_load(table: WorkloadTable, value: str) -> WorkloadTable:
    factor = toml_value(value)
    if table.kind == "closed":
        raise SimError(
            "workload.load: it multiplies how often proofs arrive, and in a closed workload the next begins "
            'when one ends; describe an open one (kind = "open" with [[arrivals]]) in --workload FILE'
        )
    if not isinstance(factor, int | float) or factor <= 0:
        raise SimError(f"--set workload.load={value}: expected a factor such as 1.5")
    rated = [each for each in table.arrivals if each.poisson is not None or each.every is not None]
    if not rated:
        raise SimError(
            "workload.load: no arrivals have a rate (poisson) or a period (every) that it could multiply; "
            "give some in the workload"
        )
    arrivals = tuple(
        each.model_copy(update={"poisson": each.poisson and each.poisson * factor,
                                "every": each.every and each.every / factor})
        for each in table.arrivals
    )  # fmt: skip
    return table.model_copy(update={"arrivals": arrivals})


def _with_streams(table: WorkloadTable, circuit: str, last: str, value: str) -> WorkloadTable:
    kind = "batches" if table.kind == "closed" else "arrivals"
    streams: tuple[BatchTable | ArrivalsTable, ...] = getattr(table, kind)
    if last not in type(streams[0]).model_fields:
        raise SimError(f"--set workload.{last}: the workload is {table.kind}, and its {kind} have none")
    chosen = [circuit in ("", each.circuit) for each in streams]
    if not any(chosen):
        raise SimError(f"--set workload.{circuit}.{last}: the workload has no {circuit}")
    changed = tuple(
        _changed(each, {last: value}, "workload") if mine else each
        for each, mine in zip(streams, chosen, strict=True)
    )
    return table.model_copy(update={kind: changed})


def _changed(model: M, changes: Mapping[str, str], where: str) -> M:
    """With some values as a file would have them, the others as they are."""
    if not changes:
        return model
    fresh = {key: _read(type(model), key, value, f"--set {where}.{key}") for key, value in changes.items()}
    values = model.model_dump(exclude_unset=True)
    if fresh.keys() & set(TIMINGS) and isinstance(model, ArrivalsTable):
        # It takes the place of the timing that there is, and of what that one went by.
        gone = {name for name, timing in OF_TIMING.items() if timing not in fresh}
        values = {name: value for name, value in values.items() if name not in {*TIMINGS, *gone}}
    try:
        return type(model).model_validate(values | fresh)
    except ValidationError as error:
        raise SimError(f"--set {where}.{', '.join(changes)}: {said_of(error)}") from error


def _read(model: type[BaseModel], key: str, text: str, where: str) -> Any:
    field = model.model_fields[key]
    annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    try:
        return TypeAdapter(annotation).validate_python(toml_value(text), context=IN_A_FILE)
    except ValidationError as error:
        raise SimError(f"{where}: {said_of(error)}") from error
