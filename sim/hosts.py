"""The hosts of a machine profile, each with its limits and with times that follow from what it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policy import Limits
from sim.contention import Cores
from sim.errors import SimError
from sim.hardware import DeviceKind, Host, device_kind, limits_of
from sim.profile import MachineProfile
from sim.proving import on_device

if TYPE_CHECKING:
    from config import Config


@dataclass(frozen=True)
class ModelledHost:
    """One host: what its policy may hand out, how long its stages take, and its memory where it is known."""

    name: str
    limits: Limits
    profile: MachineProfile
    memory_bytes: int | None = None


def modelled_hosts(
    profile: MachineProfile, config: "Config", hosts: Sequence[Host] | None = None
) -> tuple[ModelledHost, ...]:
    """Every single host of `hosts`, by default the profile's, with times as `on_host`.

    Raises SimError for a profile without hosts, or a host that cannot be compared with the first.
    """
    if not profile.hosts:
        raise SimError(
            f"profile {profile.name} has no [[hosts]], so its memory, cores and GPUs are not known; "
            "describe them there, or choose one of `cuzk sim profiles`"
        )
    made = []
    for host in profile.hosts if hosts is None else hosts:
        limits = limits_of(host, config)
        times = on_host(profile, host, device_kind(limits))
        names = [host.name] if host.count == 1 else [f"{host.name}-{n}" for n in range(1, host.count + 1)]
        made += [ModelledHost(name, limits, times, host.memory) for name in names]
    names = [each.name for each in made]
    if len(set(names)) < len(names):
        raise SimError(f"profile {profile.name}: two [[hosts]] have the same name; give each its own")
    return tuple(made)


def on_host(profile: MachineProfile, host: Host, device: DeviceKind | None = None) -> MachineProfile:
    """The profile's times as they are on a host where `device` proves, by default its GPUs if it has any.

    They are proportional to bandwidth and speed. Loads follow the disk, uploads the host's PCIe, what
    synthesis loses to its like the memory's bandwidth, synthesis and CPU work of proving the cores' speed,
    and the rest of proving the GPU's. Proving on processors follows their number, too: it takes as many
    core-seconds.
    """
    device = device or ("gpu" if host.gpus else "cpu")
    profile = on_device(profile, device)
    disk, bus = _ratio(profile, host, "disk_bandwidth"), _ratio(profile, host, "memory_bandwidth")
    cores = profile.cores or assumed_cores(profile)
    core = host.core_speed
    speed = host.gpu_speed if device == "gpu" else core * host.cores / cores.count
    before, after = profile.host_before_share, profile.host_after_share
    if device == "cpu":
        before = after = 0.0
    device_share = (1 - before - after) / speed
    before, after = before / core, after / core
    prove = before + device_share + after
    load = profile.load.model_copy(update={"bytes_per_s": profile.load.bytes_per_s * disk})
    circuits = {
        name: times.scaled(synthesize=1 / core, prove=prove, verify=1 / core, load=1 / disk)
        for name, times in profile.circuits.items()
    }
    changes = {
        "loads_at_once": _loads_at_once(profile, host),
        "synthesis_slowdown": profile.synthesis_slowdown / bus,
        "host_before_share": before / prove,
        "host_after_share": after / prove,
        "cores": cores.on(host.cores),
        "pcie_bytes_per_s": host.pcie_bandwidth or profile.pcie_bytes_per_s,
        "load": load,
        "synthesize": profile.synthesize.scaled(1 / core),
        "prove": profile.prove and profile.prove.scaled(prove),
        "verify": profile.verify.scaled(1 / core),
        "circuits": circuits,
    }
    return profile.model_copy(update=changes)


def assumed_cores(profile: MachineProfile) -> Cores:
    """Where a profile with hosts has no [cores]: synthesis keeps one busy, proving on processors all."""
    count = profile.hosts[0].cores
    return Cores(count=count, proving_cores=count)


def _loads_at_once(profile: MachineProfile, host: Host) -> int:
    reference = profile.measured_on.disks or profile.hosts[0].disks
    return profile.loads_at_once if host.disks == reference else host.disks


def _ratio(profile: MachineProfile, host: Host, name: str) -> float:
    """How many times as much the host has of it as what the times were measured on."""
    here: float | None = getattr(host, name)
    reference: float | None = getattr(profile.measured_on, name) or getattr(profile.hosts[0], name)
    if here == reference or here is None:
        return 1.0
    if reference is None:
        raise SimError(
            f"host {host.name} has a {name}, and the profile's first host, whose times are known, has none "
            "to compare it with; give both"
        )
    return here / reference
