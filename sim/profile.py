"""A machine as the simulator knows it: how long a stage takes alone, and how stages slow each other down."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from config.files import read_text
from sim.errors import SimError

Stage = Literal["load", "synthesize", "prove", "verify"]
DEFAULT_PROFILE = Path(__file__).parent / "profiles" / "default.toml"

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Samples = Annotated[tuple[Seconds, ...], Field(min_length=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StageModel(_Model):
    """A time that grows with the circuit: `seconds + seconds_per_constraint · constraints`."""

    seconds: Seconds = 0.0
    seconds_per_constraint: Seconds = 0.0


class LoadModel(_Model):
    """A time that grows with the entry: `seconds + size / bytes_per_s`."""

    seconds: Seconds = 0.0
    bytes_per_s: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ObservedTimes(_Model):
    """Seconds that real partitions of one circuit took, as if each had run alone; drawn from at random."""

    synthesize_s: Samples
    prove_s: Samples
    verify_s: Samples
    load_s: Samples | None = None  # of all entries of the circuit together


class MachineProfile(_Model):
    """What a simulated machine's times depend on, besides the policy's limits.

    Synthesis shares memory bandwidth: with n partitions at once each takes 1 + (n - 1)·`synthesis_slowdown`
    times as long. Proving has CPU work before and after a part for which it has the device to itself, however
    many workers the device has; the quotient is done after `quotient_share` of that part. `loads_at_once`
    entries are read from disk at a time. Modelled times vary by `spread`, the relative standard deviation.
    """

    name: str
    loads_at_once: Annotated[int, Field(ge=1)] = 1
    synthesis_slowdown: Seconds = 0.0
    host_before_share: Share = 0.0
    host_after_share: Share = 0.0
    quotient_share: Share = 0.5
    spread: Annotated[float, Field(ge=0, lt=1)] = 0.0
    load: LoadModel
    synthesize: StageModel
    prove: StageModel
    verify: StageModel
    circuits: dict[str, ObservedTimes] = {}

    @model_validator(mode="after")
    def _shares_leave_room(self) -> Self:
        if self.host_before_share + self.host_after_share > 1:
            raise ValueError("host_before_share and host_after_share are more than 1 together")
        return self


def load_profile(path: Path | None = None) -> MachineProfile:
    """Read a profile's TOML file, or the bundled one. Raises SimError for one that cannot be used."""
    path = path or DEFAULT_PROFILE
    try:
        return MachineProfile.model_validate(tomllib.loads(read_text(path)))
    except OSError as error:
        raise SimError(
            f"{path}: cannot be read: {error.strerror}; give a profile as {DEFAULT_PROFILE}"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SimError(f"{path}: not TOML: {error}; write it as in {DEFAULT_PROFILE}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the profile"
        raise SimError(
            f"{path}: {where}: {first['msg'].lower()}; write it as in {DEFAULT_PROFILE}"
        ) from error
