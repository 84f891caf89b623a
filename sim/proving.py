"""Times of proving are of the device that they were measured on: a GPU, or the processors."""

from policy import Limits
from sim.hardware import DeviceKind, device_kind
from sim.profile import MachineProfile, StageModel


def for_limits(profile: MachineProfile, limits: Limits) -> MachineProfile:
    """The profile with the times of the devices that the limits name, as `on_device`."""
    return on_device(profile, device_kind(limits))


def on_device(profile: MachineProfile, device: DeviceKind) -> MachineProfile:
    """The profile with times of proving on this device alone.

    `prove` and `prove_s` are None where they are not known. A profile that does not say what it was measured
    on is of the machine that is asked about.
    """
    known = profile.device or device
    circuits = {
        name: times
        if (times.device or known) == device
        else times.model_copy(update={"prove_s": None, "device": device})
        for name, times in profile.circuits.items()
    }
    changes = {
        "measured_on": profile.measured_on.model_copy(update={"device": device}),
        "prove": profile.prove if known == device else _of_the_other(profile, device),
        "prove_on_cpu": None,
        "prove_on_gpu": None,
        "circuits": circuits,
    }
    return profile.model_copy(update=changes)


def _of_the_other(profile: MachineProfile, device: DeviceKind) -> StageModel | None:
    return profile.prove_on_cpu if device == "cpu" else profile.prove_on_gpu
