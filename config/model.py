"""The settings and their defaults. An attribute has the name of its key in the file.

Sizes are integers in bytes and durations floats in seconds once read, whatever unit the file used. Paths are
absolute: a relative one is taken from the file's folder.
"""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from config.bounds import MOST, MOST_BATCH_WAIT_MS, MOST_PROOFS
from config.environment import DERIVED_LIMIT_BYTES, history_spool, history_url, ledger, param_cache
from config.errors import ConfigError
from config.units import parse_budget, parse_duration, parse_size

Priority = Literal["critical", "high", "normal", "low"]


def _size(value: object, info: ValidationInfo) -> int:
    if not isinstance(value, str | int):
        raise ConfigError(f'found {value!r}, expected a size such as "2GiB"')
    return parse_size(value, needs_unit=_is_written(info))


def _budget(value: object, info: ValidationInfo) -> int | str:
    if not isinstance(value, str | int):
        raise ConfigError(f'found {value!r}, expected a size such as "2GiB", or "auto"')
    return parse_budget(value, needs_unit=_is_written(info))


def _lookahead(value: object) -> int | str:
    if value == "auto" or (type(value) is int and 1 <= value <= MOST):
        return value
    remedy = "; pipeline.enabled = false keeps synthesis from running ahead" if value == 0 else ""
    raise ConfigError(f'found {value!r}, expected a whole number from 1 to {MOST}, or "auto"{remedy}')


def _devices(value: object) -> object:
    if value in ([], "auto"):
        return "auto"
    if value in ("all", "none") or (isinstance(value, list) and _are_different_counts(value)):
        return value
    raise ConfigError(f'found {value!r}, expected different ordinals such as [0, 1], "auto", "all" or "none"')


def _cores(value: object) -> object:
    if isinstance(value, list) and _are_different_counts(value):
        return value
    raise ConfigError(f"found {value!r}, expected different processors such as [0, 1], or [] for all")


def _are_different_counts(values: list[object]) -> bool:
    return all(type(each) is int and each >= 0 for each in values) and len(set(values)) == len(values)


def _duration(value: object, info: ValidationInfo) -> float:
    if not isinstance(value, str | int | float):
        raise ConfigError(f'found {value!r}, expected a duration such as "5m"')
    return parse_duration(value, needs_unit=_is_written(info) and value != 0)  # which is often "never"


def _is_written(info: ValidationInfo) -> bool:
    """People wrote it, so that a number has its unit; else it is a program's, in bytes and seconds."""
    return info.context is not None


def _path(value: object, info: ValidationInfo) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value:
        raise ConfigError(f"found {value!r}, expected the path of a file or folder")
    folder: Path = (info.context or {}).get("folder", Path.cwd())
    return folder / Path(value).expanduser()


def _url(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str) or "://" in value:
        return value
    return str(_path(value, info))


def _path_or_off(value: object, info: ValidationInfo) -> object:
    return "off" if value == "off" else _path(value, info)


SizeBytes = Annotated[int, BeforeValidator(_size)]
DurationS = Annotated[float, BeforeValidator(_duration)]
FilePath = Annotated[Path, BeforeValidator(_path)]
Count = Annotated[int, Field(ge=1, le=MOST)]
CountOrAuto = Annotated[int, Field(ge=0, le=MOST)]  # 0: chosen from the machine
Cores = Annotated[list[int], BeforeValidator(_cores)]


class _Section(BaseModel):
    """No unknown keys, no silent conversion between types, no change after reading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DaemonConfig(_Section):
    """Where a daemon listens, whom it lets in, and how much it takes.

    `listen`: "HOST:PORT" or "unix:///PATH", of gRPC; `status_listen`: "HOST:PORT" of HTTP, empty for none.
    `queue_limit`: jobs that are not ended. `keep_results`: how long a result can be asked for again. `drain`:
    how long a daemon that is told to end waits for what is under way. `circuits`: which circuit proves a kind
    of the public protocol, by "porep-32g" or by "POREP_SEAL_COMMIT".
    """

    listen: str = "127.0.0.1:9820"
    status_listen: str = "127.0.0.1:9821"
    queue_limit: Annotated[int, Field(ge=1, le=MOST_PROOFS)] = 1000
    keep_results: DurationS = 3600.0
    drain: DurationS = 60.0
    tls_cert: FilePath | None = None
    tls_key: FilePath | None = None
    client_ca: FilePath | None = None
    token_file: FilePath | None = None
    circuits: dict[str, str] = {}


class ClientConfig(_Section):
    """How this program's commands and batches come to a daemon that others reach, too.

    `token_file`: the token that the daemon wants; `ca`: who certifies it, where this machine does not know
    that; `cert` and `key`: those of this client. All PEM but the token.
    """

    token_file: FilePath | None = None
    ca: FilePath | None = None
    cert: FilePath | None = None
    key: FilePath | None = None


class SrsConfig(_Section):
    """Where development keys are kept, and what is derived from keys of any kind, up to `derived_limit`.

    `tables`: whether batches may use tables of multiples of a key's points, where they gain by it.
    """

    param_cache: FilePath = Field(default_factory=param_cache)
    derived_limit: SizeBytes = DERIVED_LIMIT_BYTES
    tables: Literal["auto", "off"] = "auto"


class MemoryConfig(_Section):
    """The one budget for SRS, PCE and working sets. "auto" is the machine's memory less `safety_margin`.

    `ledger`: the file through which processes of this machine share the budget, or "off".
    """

    total_budget: Annotated[int | Literal["auto"], BeforeValidator(_budget)] = "auto"
    safety_margin: SizeBytes = 5 * 2**30
    eviction_min_idle: DurationS = 300.0
    ledger: Annotated[Path | Literal["off"], BeforeValidator(_path_or_off)] = Field(default_factory=ledger)


class GpusConfig(_Section):
    """What proves. `devices`: the GPUs' ordinals, "all", or "none" for the processors.

    "auto", as the empty list, is all GPUs that can be used, or the processors where there are none.
    `device_memory`: how much of each GPU's may be used; "auto": all but a twentieth, or 1 GiB if that is
    more. `gpu_threads`: CPU threads of proving, 0 for all processors; `cores`: what they keep to, empty: all.
    """

    devices: Annotated[list[int] | Literal["auto", "all", "none"], BeforeValidator(_devices)] = "auto"
    device_memory: Annotated[int | Literal["auto"], BeforeValidator(_budget)] = "auto"
    gpu_threads: CountOrAuto = 0
    gpu_workers_per_device: Count = 2
    cores: Cores = []


class SchedulerConfig(_Section):
    """How proofs of one circuit are kept together, which matters where their SRS and PCE displace others.

    `sort_by_type`: who would have entries evicted that others wait for lets those go first that fit beside
    them. `max_batch_size`: proofs that go one after the other; the first waits for the rest,
    `max_batch_wait_ms` at most, where it would have entries evicted. 1: none waits.
    """

    max_batch_size: Count = 1
    max_batch_wait_ms: Annotated[int, Field(ge=0, le=MOST_BATCH_WAIT_MS)] = 10_000
    sort_by_type: bool = True


class SynthesisConfig(_Section):
    """`threads`: CPU threads for synthesis, 0 for half of the processors, or all where GPUs prove.

    `cores`: what they keep to, empty for all.
    """

    threads: CountOrAuto = 0
    cores: Cores = []


class PipelineConfig(_Section):
    """How far synthesis runs ahead of proving.

    `synthesis_lookahead`: synthesized partitions that may wait for a device, "auto" for as many as synthesize
    at once. `synthesis_lookahead_bytes`: nothing is admitted while the working sets that no device has yet
    take so much, "auto" for no bound but the budget. `synthesis_concurrency`: partitions that synthesize at
    once, 0 for one a processor.
    """

    enabled: bool = True
    synthesis_lookahead: Annotated[int | Literal["auto"], BeforeValidator(_lookahead)] = "auto"
    synthesis_lookahead_bytes: Annotated[int | Literal["auto"], BeforeValidator(_budget)] = "auto"
    synthesis_concurrency: CountOrAuto = 0


class TimeoutsConfig(_Section):
    """After which a stage fails, and its proof with it; 0: never. `load` is of one entry.

    `stall`: how long nothing may get on before the log tells what everything waits for; 0: never.
    """

    load: DurationS = 0.0
    synthesize: DurationS = 0.0
    prove: DurationS = 0.0
    verify: DurationS = 0.0
    stall: DurationS = 300.0


class LoggingConfig(_Section):
    """What is logged, and whether as text or as a JSON object a line."""

    level: Literal["trace", "debug", "info", "warn", "error"] = "info"
    format: Literal["text", "json"] = "text"


class HistoryConfig(_Section):
    """`url`: a PostgreSQL or SQLite URL, or the path of an SQLite file.

    It may hold a password, so it is left out of every dump and printout. `hash`: of what only a digest is
    recorded, "paths" and "hosts".
    """

    url: Annotated[str | None, BeforeValidator(_url), Field(exclude=True, repr=False)] = None
    hash: list[Literal["paths", "hosts"]] = []


class CircuitConfig(_Section):
    """A circuit to prove: its key, and its witness as a file or as a calculator with inputs.

    `r1cs`, where there is one, lets an unsatisfied witness be named by its first failing constraint.
    """

    zkey: FilePath
    wasm: FilePath | None = None
    witness: FilePath | None = None
    inputs: FilePath | None = None
    r1cs: FilePath | None = None
    partitions: Count = 1
    priority: Priority = "normal"

    @model_validator(mode="after")
    def _one_source_of_the_witness(self) -> Self:
        if (self.wasm is None) == (self.witness is None):
            found = "neither" if self.wasm is None else "both"
            raise ConfigError(f'found {found} of "wasm" and "witness", expected one of them')
        if (self.wasm is None) != (self.inputs is None):
            found = "wasm" if self.wasm else "inputs"
            raise ConfigError(f'found "{found}" alone, expected "wasm" and "inputs" together')
        return self


def _circuit_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ConfigError(f"found the name {name!r}, expected letters, digits, '.', '_' and '-'")
    return name


class Config(_Section):
    """The whole file."""

    daemon: DaemonConfig = Field(default_factory=DaemonConfig)
    client: ClientConfig = ClientConfig()
    srs: SrsConfig = Field(default_factory=SrsConfig)
    memory: MemoryConfig = Field(default_factory=MemoryConfig)
    gpus: GpusConfig = GpusConfig()
    scheduler: SchedulerConfig = SchedulerConfig()
    synthesis: SynthesisConfig = SynthesisConfig()
    pipeline: PipelineConfig = PipelineConfig()
    timeouts: TimeoutsConfig = TimeoutsConfig()
    logging: LoggingConfig = LoggingConfig()
    history: HistoryConfig = HistoryConfig()
    circuits: dict[Annotated[str, BeforeValidator(_circuit_name)], CircuitConfig] = {}

    def history_url(self) -> str:
        """Where the history lies: `[history] url`, else $CUZK_HISTORY_URL, else history.db in `home()`."""
        return history_url(self.history.url)

    def history_spool(self) -> Path:
        """Where records wait while a history on a server cannot be written."""
        return history_spool()

    def snapshot(self) -> dict[str, object]:
        """Every setting as JSON values, for a run's record. Without `history.url`: it may hold a password."""
        return self.model_dump(mode="json")
