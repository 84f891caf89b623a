"""What `cuzk sim` and a capacity study ask of the simulator, made ready: settings, circuits and their times.

Light to import: no Prefect.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

import engine
import examples
from config import Config, load_config, nearest
from config.load import warn_on_stderr
from db import History, find_run, show_run
from engine.circuit import open_circuit
from engine.limits import modelled_limits
from flows.parameters.batch import with_budget
from flows.parameters.form import without_null
from flows.server.local import Say
from sim import BUDGET, SimError, bundled_circuits, load_profile, read_workload_table, with_history
from sim.circuits import SimCircuit
from sim.hardware import device_kind
from sim.profile import with_hosts
from sim.question import Question
from sim.workload_file import BatchTable, WorkloadTable, bundled_workloads

MOST_SEEDS = 1_000


class QuestionParameters(BaseModel):
    """A workload on a machine: proofs of one circuit, or all that a file says."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=without_null)

    workload: str | None = Field(
        None,
        title="Workload",
        description="A TOML file, or a bundled one by its name. Empty: a batch of the circuit below.",
    )
    circuit: str | None = Field(
        None, title="Circuit", description="One of the settings' file, bundled, or known by its sizes alone."
    )
    count: int = Field(3, title="Proofs", description="Of the circuit, in a closed loop.", ge=1, le=1_000_000)
    concurrency: int = Field(3, title="At a time", description="Proofs of the batch.", ge=1, le=10_000)
    partitions: int | None = Field(None, title="Partitions", description="Empty: the circuit's.", ge=1)
    priority: Literal["critical", "high", "normal", "low"] | None = Field(
        None, title="Priority", description="Empty: the circuit's."
    )
    machine: str = Field(
        "default",
        title="Machine",
        description="A profile's TOML file, or a bundled one by its name: default, which is this machine "
        f"and has no hosts to vary, {', '.join(with_hosts())}.",
    )
    policy: str = Field(BUDGET, title="Policy", description='"budget", or "fixed:N".')
    budget: str | None = Field(None, title="Memory budget", description="Empty: what the machine gives.")
    settings: list[str] = Field(
        [],
        title="Settings",
        description="KEY=VALUE each, such as memory.total_budget=2GiB; on a machine whose profile has hosts "
        "also machine.gpus=2 or machine.memory=256GiB.",
    )
    seeds: int = Field(
        5, title="Seeds", description="Runs by different seeds, for the error bars.", ge=1, le=MOST_SEEDS
    )
    seed: int = Field(0, title="First seed", description="The seeds count up from here.", ge=0)
    config: Path | None = Field(
        None, title="Configuration file", description="Empty: $CUZK_CONFIG, else cuzk.toml."
    )

    @property
    def all_seeds(self) -> range:
        """Each of them."""
        return range(self.seed, self.seed + self.seeds)

    @property
    def title(self) -> str:
        """What is simulated: "porep-32g ×20", or the workload's name."""
        what = Path(self.workload).stem if self.workload else f"{self.circuit} ×{self.count}"
        return f"{what} on {Path(self.machine).stem}"


def ask(parameters: QuestionParameters, history: History, say: Say, config: Config) -> Question:
    """The question, with all that it needs. Raises what the rooms raise for what cannot be used."""
    table, folder = _workload(parameters)
    profile = load_profile(parameters.machine)
    own = {name for name in _names(table) if name not in table.circuits and name not in bundled_circuits()}
    circuits = {name: _circuit(name, config, say) for name in sorted(own)}
    limits = None if profile.hosts else modelled_limits(config)
    device = device_kind(limits) if limits else "gpu" if any(host.gpus for host in profile.hosts) else "cpu"
    return Question(
        table,
        folder,
        with_history(profile, history, [each.shape.name for each in circuits.values()], device),
        config,
        parameters.policy,
        limits,
        circuits,
        lambda run, circuit: _trace(history, run, circuit),
    )


def question_config(parameters: QuestionParameters) -> Config:
    """The settings, with the budget that is asked for. Raises ConfigError."""
    return with_budget(load_config(parameters.config, warn_on_stderr), parameters.budget)


def _workload(parameters: QuestionParameters) -> tuple[WorkloadTable, Path]:
    if parameters.workload is not None:
        path = bundled_workloads().get(parameters.workload, Path(parameters.workload))
        return read_workload_table(path), path.parent
    if parameters.circuit is None:
        raise SimError("nothing to simulate: give --workload FILE, or a circuit by --type")
    batch = BatchTable(
        circuit=parameters.circuit,
        count=parameters.count,
        concurrency=parameters.concurrency,
        partitions=parameters.partitions,
        priority=parameters.priority,
    )
    return WorkloadTable(kind="closed", batches=(batch,)), Path()


def _names(table: WorkloadTable) -> Iterable[str]:
    return [*(each.circuit for each in table.batches), *(each.circuit for each in table.arrivals)]


def _circuit(name: str, config: Config, say: Say) -> SimCircuit:
    """A circuit that has a key here."""
    known = {**config.circuits, **examples.CIRCUITS, **bundled_circuits()}
    if name not in known:
        guess = nearest(name, known)
        hint = f"did you mean {guess!r}?" if guess else f"expected one of {', '.join(known)}"
        raise SimError(f"unknown circuit {name!r}; {hint}")
    spec = engine.resolve(name, config)
    engine.prepare(spec, say)
    opened = open_circuit(spec)
    # The domain size is rounded up to a power of two, but all that a key tells.
    return SimCircuit(opened.shape, opened.header.domain_size, spec.partitions, spec.priority)


def _trace(history: History, run_id: str, circuit: str) -> Sequence[float]:
    run = show_run(history, find_run(history, run_id).id)
    return [each.proof.submitted_s for each in run.proofs if each.proof.circuit == circuit]
