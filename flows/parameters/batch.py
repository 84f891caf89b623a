"""What a batch of proofs is given. Light to import: no Prefect, no kernels."""

import socket
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from config import Config, ConfigError, load_config, parse_budget
from config.bounds import MOST, MOST_PROOFS
from config.printable import PrintableName
from flows.parameters import patterns
from flows.parameters.devices import parse_devices
from flows.parameters.due import due_at
from flows.parameters.form import as_form
from flows.parameters.inputs import input_files

PROOFS = 3


class BatchParameters(BaseModel):
    """A batch of proofs of one circuit, within one memory budget."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=as_form)

    circuit: str = Field(
        "", title="Circuit", description="A circuit of the settings' file, or a bundled one."
    )
    count: int = Field(
        0,  # taken for what is said below, and refused where it is given
        title="Proofs",
        description=f"How many proofs to make. Empty: one for each input, or {PROOFS}.",
        ge=1,
        le=MOST_PROOFS,
    )
    inputs: list[Path] = Field(
        [],
        title="Inputs",
        description="Witness (.wtns) or input files (.json), one for each proof, or a folder of them. "
        "Empty: the circuit's own for every proof.",
    )
    concurrency: int = Field(
        3,
        title="At a time",
        description="How many proofs are submitted at a time; the memory budget decides how many run.",
        ge=1,
        le=MOST,
    )
    partitions: int | None = Field(
        None,
        title="Partitions",
        description="Groth16 proofs that make up one proof. Empty: as many as the circuit's.",
        ge=1,
        le=MOST,
    )
    priority: Literal["critical", "high", "normal", "low"] | None = Field(
        None, title="Priority", description="Which proofs go first. Empty: the circuit's."
    )
    due: str | None = Field(
        None,
        title="Due",
        description='When it should be done: "06:00", "8h" after its start, or "2027-01-31T06:00". Its '
        "proofs go before others as that comes near.",
        json_schema_extra={"pattern": patterns.DUE},
    )
    budget: str | None = Field(
        None,
        title="Memory budget",
        description='For keys and working memory together: "2GiB" or "auto". Empty: the file\'s.',
        json_schema_extra={"pattern": patterns.SIZE_OR_AUTO},
    )
    device: str | None = Field(
        None,
        title="Devices",
        description='What proves: GPUs by number, such as "0" or "0,1", "all", "none" for the processors, '
        'or "auto". Empty: the file\'s.',
        json_schema_extra={"pattern": patterns.DEVICES},
    )
    mode: Literal["real", "simulated"] = Field(
        "real",
        title="Mode",
        description="Simulated: the same batch on a modelled machine, in no time and without proofs.",
    )
    on_failure: Literal["continue", "stop"] = Field(
        "continue",
        title="After a failure",
        description="Whether a proof that fails for good lets the others go on, or ends the batch.",
    )
    tasks: Literal["grouped", "each"] = Field(
        "grouped",
        title="Tasks",
        description="Grouped: proofs that take less than 2 s have a task together, so have those of large "
        "batches. Each: every proof has its own for each stage, which cost 0.1 s of processor time.",
    )
    name: PrintableName = Field(
        "",
        title="Name",
        description='Follows circuit and number in the run\'s name, as in "merkle ×12 · nightly".',
        max_length=60,
    )
    resume: str | None = Field(
        None,
        title="Resume",
        description="A run that did not finish, by its id in `cuzk history` or that of its page here: "
        "what is left of it is proved, of the same inputs and into the same folder. Empty: a new batch.",
        json_schema_extra={"pattern": patterns.RUN},
    )
    engine: str = Field(
        "",
        title="Engine",
        description='A daemon that proves, such as "http://127.0.0.1:9820" or "unix:///run/cuzk.sock". '
        "Empty: the process of the run.",
        json_schema_extra={"pattern": patterns.ADDRESS},
    )
    hosts: list[str] = Field(
        [],
        title="Hosts",
        description="Their queues: each of these hosts proves a part of every proof's partitions. Empty: the "
        "host that runs the batch proves alone.",
    )
    output: Path | None = Field(
        None, title="Output folder", description="Where the proofs go. Empty: a folder of the run's own."
    )
    config: Path | None = Field(
        None,
        title="Settings",
        description="The settings' file. Empty: $CUZK_CONFIG, else cuzk.toml in the working folder.",
    )

    @field_validator("inputs", mode="before")
    @classmethod
    def _as_list(cls, value: object) -> object:
        return [value] if isinstance(value, str | Path) else value

    @field_validator("due")
    @classmethod
    def _is_a_time(cls, text: str | None) -> str | None:
        if text is not None:
            due_at(text, datetime.now().astimezone())
        return text

    @field_validator("device")
    @classmethod
    def _names_devices(cls, text: str | None) -> str | None:
        if text is not None:
            parse_devices(text)
        return text

    @field_validator("engine")
    @classmethod
    def _is_an_address(cls, address: str) -> str:
        if address:
            from daemon.address import parse_address
            from daemon.errors import DaemonError

            try:
                parse_address(address)
            except DaemonError as error:
                raise ConfigError(str(error)) from error
        return address

    @field_validator("hosts")
    @classmethod
    def _are_different(cls, hosts: list[str]) -> list[str]:
        if twice := [host for host in hosts if hosts.count(host) > 1]:
            raise ConfigError(f"found {twice[0]!r} twice, expected different queues; name each host once")
        return hosts

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if not (self.circuit or self.resume):
            raise ConfigError("circuit: expected a name; choose one of the settings' file, or a bundled one")
        if self.hosts and self.mode == "simulated":
            raise ConfigError("hosts: a simulated batch runs on one; for several see `cuzk sim --help`")
        if self.engine:
            given = {"hosts": self.hosts, "resume": self.resume, "budget": self.budget, "device": self.device}
            if name := next((name for name, value in given.items() if value), None):
                raise ConfigError(
                    f"{name}: is for the daemon to say that engine names; leave out one of both"
                )
            if self.mode == "simulated":
                raise ConfigError("engine: a simulated batch needs none; leave out one of both")
        if self.resume is not None:
            if self.mode == "simulated":
                raise ConfigError("resume: a simulated batch is not resumed; leave out one of both")
        else:
            files = len(input_files(self.inputs))
            if files and self.count not in (0, files):
                raise ConfigError(
                    f"count: found {self.count}, expected {files}, one for each input; leave it out for that"
                )
            self.count = self.count or files or PROOFS
        return self

    @property
    def title(self) -> str:
        """What the batch is called: "merkle ×3 · nightly"."""
        if not self.count:  # it is that of the run that is resumed
            return self.asked_title
        simulated = "simulated" if self.mode == "simulated" else ""
        resumed = "resumed" if self.resume else ""
        return " · ".join(filter(None, (f"{self.circuit} ×{self.count}", self.name, simulated, resumed)))

    @property
    def asked_title(self) -> str:
        """What it is called before it is known what the run proves that it resumes."""
        return f"the rest of {self.resume}" if self.resume else self.title

    @property
    def tags(self) -> set[str]:
        """By which its run is found among others: circuit and machine."""
        simulated = "simulated" if self.mode == "simulated" else ""
        return set(filter(None, (self.circuit, socket.gethostname(), simulated)))


def batch_parameters(**values: Any) -> BatchParameters:
    """The parameters with these values. Raises ConfigError, one line, for one that cannot be used."""
    try:
        return BatchParameters(**values)
    except ValidationError as error:
        raise ConfigError(first_problem(error)) from error


def first_problem(error: ValidationError) -> str:
    """One line."""
    problem = error.errors()[0]
    where = ".".join(map(str, problem["loc"]))
    why = str(problem.get("ctx", {}).get("error", problem["msg"]))
    return f"{where}: {why}" if where else why


def batch_config(parameters: BatchParameters, warn: Callable[[str], None]) -> Config:
    """The settings, with the batch's budget and devices where it has its own. Raises ConfigError."""
    config = with_budget(load_config(parameters.config, warn), parameters.budget)
    if parameters.device is None:
        return config
    gpus = config.gpus.model_copy(update={"devices": parse_devices(parameters.device)})
    return config.model_copy(update={"gpus": gpus})


def with_budget(config: Config, budget: str | None) -> Config:
    """The settings with another budget, unless that is None. Raises ConfigError."""
    if budget is None:
        return config
    try:
        total_budget = parse_budget(budget)
    except ConfigError as error:
        raise ConfigError(f"budget: {error}") from error
    memory = config.memory.model_copy(update={"total_budget": total_budget})
    return config.model_copy(update={"memory": memory})
