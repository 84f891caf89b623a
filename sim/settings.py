"""What can be varied, as KEY=VALUE: settings, parts of a machine and prices, workload, faults, policy."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

from config import ConfigError, format_size, nearest, parse_size
from config.model import Config
from sim.errors import SimError
from sim.faults import Faults
from sim.hardware import Host, Prices
from sim.kinds import fixed_at_once

Setting = tuple[str, str]
VARY = "--vary"
"""The option by which a list of values is given."""
MOST_VALUES = 1_000
PARTS = ("policy", "machine", "workload", "faults", "prices")
CONFIG_KEYS = (
    "memory.total_budget",
    "memory.safety_margin",
    "memory.eviction_min_idle",
    "gpus.devices",
    "gpus.device_memory",
    "gpus.gpu_workers_per_device",
    "scheduler.max_batch_size",
    "scheduler.max_batch_wait_ms",
    "scheduler.sort_by_type",
    "pipeline.enabled",
    "pipeline.synthesis_lookahead",
    "pipeline.synthesis_lookahead_bytes",
    "pipeline.synthesis_concurrency",
)
"""The settings that the policy follows; others change nothing in a simulation."""
WORKLOAD_KEYS = ("load", "duration", "count", "concurrency", "deadline", "poisson", "every")
"""`load` multiplies the rates of all arrivals; each may name a circuit: workload.porep-32g.poisson."""
FIXED = ("name", "count")
"""Of a host: what it is called, and what machine.hosts sets."""
_RANGE = re.compile(r"(?P<low>[^.].*?)\.\.(?P<high>[^.].*?)(?:\.\.(?P<step>.+))?")


def known_keys() -> list[str]:
    """All that can be set, a circuit's and a host's own left out."""
    machine = [f"machine.{name}" for name in Host.model_fields if name not in FIXED]
    faults = [f"faults.{name}" for name in Faults.model_fields]
    workload = [f"workload.{name}" for name in WORKLOAD_KEYS]
    prices = [f"prices.{name}" for name in Prices.model_fields if name != "currency"]
    return ["policy", "machine.hosts", *machine, *CONFIG_KEYS, *workload, *faults, *prices]


def read_setting(text: str, option: str = "--set") -> Setting:
    """A key and its one value. Raises SimError for a key that is not known."""
    key, value = _parted(text, option, "KEY=VALUE, such as memory.total_budget=256GiB")
    if key == "policy":
        fixed_at_once(value)
    return key, value


def read_settings(texts: Iterable[str], option: str = "--set") -> dict[str, str]:
    """As `read_setting`, of several: what is of one host or circuit comes after what is of all.

    Raises SimError for one thing twice.
    """
    ordered = sorted((read_setting(text, option) for text in texts), key=lambda each: each[0].count("."))
    for place, (key, value) in enumerate(ordered):
        for other, before in ordered[:place]:
            if covers(key, other):
                raise SimError(
                    f"{option} {other}={before} and {option} {key}={value} are both given, and one alone can "
                    "hold; leave the other out"
                )
    return dict(ordered)


def covers(key: str, other: str) -> bool:
    """Whether nothing is left of what `other` says once `key` is said: of its host or circuit, or of all."""
    (name, *what), (other_name, *other_what) = _named(key), _named(other)
    return what == other_what and name in ("", other_name)


def _named(key: str) -> tuple[str, str, str]:
    """The host or circuit that a key is of, "" for all; its section; and what of it."""
    section, _, rest = key.partition(".")
    name, _, last = rest.rpartition(".")
    return name, section, "poisson" if last == "every" else last  # both say when proofs arrive


def _parted(text: str, option: str, expected: str) -> Setting:
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not value:
        raise SimError(f"{option} {text!r}: expected {expected}")
    _check_key(key, option)
    return key, value


@contextmanager
def given_by(option: str, keys: Iterable[str]) -> Iterator[None]:
    """What is wrong with one of these settings is said of the option by which it was given."""
    try:
        yield
    except SimError as error:
        said = str(error)
        for key in keys:
            said = said.replace(f"--set {key}", f"{option} {key}")
        error.args = (said,)
        raise


def read_values(text: str) -> list[Setting]:
    """As `read_setting`, of a list "a,b" or a range "1..4", "128GiB..512GiB..128GiB"."""
    key, parts = _parted(text, VARY, "KEY=VALUES, such as machine.gpus=1,2 or machine.gpus=1..4")
    values = [each for part in parts.split(",") for each in _values(key, part.strip())]
    return [read_setting(f"{key}={value}", VARY) for value in dict.fromkeys(values)]


def combinations(varied: Iterable[str]) -> list[dict[str, str]]:
    """Every combination of the values of each. Raises SimError for one key twice, or for too many."""
    axes = sorted((read_values(text) for text in varied), key=lambda axis: axis[0][0].count("."))
    _check_each_once([axis[0][0] for axis in axes])
    found = [dict(point) for point in product(*axes)]
    if len(found) > MOST_VALUES:
        raise SimError(
            f"{len(found)} combinations, expected at most {MOST_VALUES}; vary less, or in larger steps"
        )
    return found


def _check_each_once(keys: Sequence[str]) -> None:
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise SimError(f"{VARY} {key} is there twice; give all its values in one, as {key}=A,B")
        if (other := next((each for each in keys[:place] if covers(key, each)), None)) is not None:
            raise SimError(
                f"{VARY} {other} and {VARY} {key} are both given, and one alone can hold; leave the other out"
            )


def _check_key(key: str, option: str) -> None:
    known = known_keys()
    if key in known:
        return
    section, _, rest = key.partition(".")
    last = rest.rpartition(".")[2]
    if section == "workload" and last in WORKLOAD_KEYS:
        return
    if section == "machine" and last in (*Host.model_fields, "hosts") and last not in FIXED:
        return
    if section in Config.model_fields and rest in _fields_of_config(section):
        raise SimError(
            f"{option} {key}: it changes nothing in a simulation; what does is {', '.join(CONFIG_KEYS)}"
        )
    guess = nearest(key, [each for each in known if nearest(last or key, [each.rpartition(".")[2]])])
    hint = f"did you mean {guess!r}?" if guess else f"expected one of {', '.join(known)}"
    raise SimError(f"{option} {key}: there is no such setting; {hint}")


def _fields_of_config(section: str) -> Iterable[str]:
    return getattr(Config.model_fields[section].annotation, "model_fields", {})


def _values(key: str, text: str) -> list[str]:
    found = _RANGE.fullmatch(text)
    if found is None:
        return [text]
    try:
        if found["low"].isdecimal():
            low, high, step = int(found["low"]), int(found["high"]), int(found["step"] or 1)
            return [str(value) for value in _steps(low, high, step)]
        low, high = parse_size(found["low"]), parse_size(found["high"])
        if found["step"] is None:
            raise ValueError("a range of sizes needs a step")
        return [format_size(value) for value in _steps(low, high, parse_size(found["step"]))]
    except (ConfigError, ValueError) as error:
        raise SimError(
            f"{VARY} {key}={text}: {error}; expected a range such as 1..4 or 128GiB..512GiB..128GiB"
        ) from error


def _steps(low: int, high: int, step: int) -> Sequence[int]:
    if step < 1 or high < low:
        raise ValueError(f"from {low} to {high} by {step} there is nothing")
    if (high - low) // step >= MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES} values")
    return range(low, high + 1, step)


def toml_value(text: str) -> Any:
    """The value as in a TOML file; a text needs no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def sections(settings: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The settings by what they are of: "config", or one of PARTS."""
    found: dict[str, dict[str, str]] = {}
    for key, value in settings.items():
        section, _, rest = key.partition(".")
        if section in PARTS:
            found.setdefault(section, {})[rest] = value
        else:
            found.setdefault("config", {})[key] = value
    return found
