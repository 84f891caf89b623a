"""A machine as the simulator knows it: how long a stage takes alone, and how stages slow each other down."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from config import nearest
from config.printable import PrintableName
from sim.contention import Cores
from sim.errors import SimError
from sim.hardware import DeviceKind, Host, MeasuredOn, Prices
from sim.quantities import SizeBytes
from sim.toml_files import read_toml, validated

Stage = Literal["load", "synthesize", "prove", "verify"]
DEFAULT_PROFILE = Path(__file__).parent / "profiles" / "default.toml"

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


def _last_some_time(samples: tuple[float, ...]) -> tuple[float, ...]:
    if not any(samples):
        raise ValueError("found times of 0 alone, which are no durations, expected some above 0")
    return samples


Samples = Annotated[tuple[Seconds, ...], Field(min_length=1), AfterValidator(_last_some_time)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StageModel(_Model):
    """A time that grows with the circuit: `seconds + seconds_per_constraint · constraints`."""

    seconds: Seconds = 0.0
    seconds_per_constraint: Seconds = 0.0

    @model_validator(mode="after")
    def _has_a_duration(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("found no duration, expected seconds, seconds_per_constraint, or both")
        if not (self.seconds or self.seconds_per_constraint):
            zeros = " and ".join(f"{name} = 0" for name in sorted(self.model_fields_set))
            missing = [name for name in type(self).model_fields if name not in self.model_fields_set]
            lacks = f" and no {missing[0]}" if missing else ""
            raise ValueError(f"found {zeros}{lacks}, which is no duration, expected one of them above 0")
        return self

    def scaled(self, factor: float) -> "StageModel":
        """The model of times that are `factor` times as long."""
        return StageModel(
            seconds=self.seconds * factor, seconds_per_constraint=self.seconds_per_constraint * factor
        )


class LoadModel(_Model):
    """A time that grows with the entry: `seconds + size / bytes_per_s`.

    What is left of its file in the system's memory from an earlier load (see `sim.page_cache`) comes at
    `mapped_bytes_per_s`, and without a disk; None: every load is from disk.
    """

    seconds: Seconds = 0.0
    bytes_per_s: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    mapped_bytes_per_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class MemoryModel(_Model):
    """What a process holds beside entries and whole working sets.

    base                 of the process itself
    at_start_share       of a working set when its synthesis begins; from there it grows evenly
    synthesized_share    of it when synthesis ends, and while it waits for a device
    prove_scratch_share  of it, more than that, while its partition proves
    """

    base: SizeBytes = 0
    at_start_share: Share = 1.0
    synthesized_share: Share = 1.0
    prove_scratch_share: Seconds = 0.0


class ObservedTimes(_Model):
    """Seconds that real partitions of one circuit took, as if each had run alone; drawn from at random.

    `device`: what the proofs were made on; None: what the profile's were. `prove_s` is None where something
    else proves. `working_bytes`: the most that a working set really took, and `loaded_share` of what is
    reserved for its entries those do; None and 1: what the circuit says.
    """

    synthesize_s: Samples
    prove_s: Samples | None
    verify_s: Samples
    device: DeviceKind | None = None
    load_s: Samples | None = None  # of all entries of the circuit together
    working_bytes: Annotated[int, Field(ge=0)] | None = None
    loaded_share: Annotated[float, Field(ge=0, le=1)] = 1.0

    def scaled(self, **factors: float) -> "ObservedTimes":
        """The times of each stage, `factors` times as long."""
        changes = {}
        for stage, factor in factors.items():
            samples: tuple[float, ...] | None = getattr(self, f"{stage}_s")
            changes[f"{stage}_s"] = samples and tuple([seconds * factor for seconds in samples])
        return self.model_copy(update=changes)


class MachineProfile(_Model):
    """What a simulated machine's times depend on, besides the policy's limits.

    Synthesis shares memory bandwidth: with n partitions at once each takes 1 + (n - 1)·`synthesis_slowdown`
    times as long. Proving has CPU work before and after a part for which it has the device to itself, however
    many workers the device has; the quotient is done after `quotient_share` of that part. Each partition that
    synthesizes meanwhile makes that part longer by `device_slowdown` of it. `cores` says what partitions
    take of the processors; where those prove, nobody has the device to himself. `loads_at_once` entries are
    read from disk at a time. What a device keeps of a circuit is sent at `pcie_bytes_per_s`, or takes no
    time. Modelled times vary by `spread`, the relative standard deviation.

    `hosts`: the machines; none: one that is as the settings say, this one where they say nothing. The times
    are of `measured_on`, or of the first host. `prove` is of the device that it names; `prove_on_cpu` and
    `prove_on_gpu` may tell of the other. `about`: where the times are from.
    """

    name: PrintableName
    about: str = ""
    measured_on: MeasuredOn = MeasuredOn()
    hosts: tuple[Host, ...] = ()
    prices: Prices | None = None
    loads_at_once: Annotated[int, Field(ge=1)] = 1
    synthesis_slowdown: Seconds = 0.0
    host_before_share: Share = 0.0
    host_after_share: Share = 0.0
    device_slowdown: Seconds = 0.0
    quotient_share: Share = 0.5
    pcie_bytes_per_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    spread: Annotated[float, Field(ge=0, lt=1)] = 0.0
    load: LoadModel
    synthesize: StageModel
    prove: StageModel | None
    prove_on_cpu: StageModel | None = None
    prove_on_gpu: StageModel | None = None
    verify: StageModel
    memory: MemoryModel = MemoryModel()
    cores: Cores | None = None
    circuits: dict[str, ObservedTimes] = {}

    @property
    def device(self) -> DeviceKind | None:
        """What `prove` was measured on; None: on the machine that is asked about, whatever proves there."""
        if self.measured_on.device is not None or not self.hosts:
            return self.measured_on.device
        return "gpu" if self.hosts[0].gpus else "cpu"

    @property
    def measured_bytes(self) -> dict[str, int]:
        """What working sets were seen to take, by circuit."""
        known = {name: times.working_bytes for name, times in self.circuits.items()}
        return {name: size_bytes for name, size_bytes in known.items() if size_bytes is not None}

    @model_validator(mode="after")
    def _shares_leave_room(self) -> Self:
        if self.host_before_share + self.host_after_share > 1:
            raise ValueError("host_before_share and host_after_share are more than 1 together")
        return self

    @model_validator(mode="after")
    def _proves_once_on_each(self) -> Self:
        twice = self.device and getattr(self, f"prove_on_{self.device}")
        if twice and self.prove:
            raise ValueError(f"prove and prove_on_{self.device} are both of a {self.device}, expected one")
        return self


def load_profile(profile: Path | str | None = None) -> MachineProfile:
    """Read a TOML file, or a bundled profile by its name. Raises SimError for one that cannot be used."""
    path = profile if isinstance(profile, Path) else profile_path(profile or DEFAULT_PROFILE.stem)
    example = f"{DEFAULT_PROFILE}, or learn it by `cuzk sim calibrate`"
    return validated(MachineProfile, read_toml(path, example), str(path), example)


def bundled_profiles() -> dict[str, Path]:
    """The profiles that come with the program, by name."""
    return {path.stem: path for path in sorted(DEFAULT_PROFILE.parent.glob("*.toml"))}


def with_hosts() -> list[str]:
    """Those of them that say what machine they are of, so that it can be varied."""
    return [name for name, path in bundled_profiles().items() if "hosts" in tomllib.loads(path.read_text())]


def profile_path(name: str) -> Path:
    """Of a bundled profile, else the path that `name` is. Raises SimError for a name that is neither."""
    bundled = bundled_profiles()
    if name in bundled:
        return bundled[name]
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    guess = nearest(name, bundled)
    hint = f"did you mean {guess!r}?" if guess else f"expected a TOML file or one of {', '.join(bundled)}"
    raise SimError(f"profile {name!r}: there is no such profile; {hint}")
