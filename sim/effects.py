"""Whether a setting of the machine changes anything: else it would be varied, and paid for, in vain."""

from collections.abc import Collection, Mapping, Sequence

from config.model import Config
from policy import Circuit
from sim.errors import NoEffectError
from sim.hardware import Host
from sim.profile import MachineProfile

OWN_CIRCUIT = "in a [circuits.NAME] of your own"
NOT_ON_DEVICE = (
    "of no circuit that is proved it is known what it holds on a GPU; give device_memory and device_srs "
    + OWN_CIRCUIT
)
MEMORY = ("memory", "safety_margin")


def check_effects(
    settings: Mapping[str, str],
    before: Sequence[Host],
    hosts: Sequence[Host],
    config: Config,
    profile: MachineProfile,
    shapes: Collection[Circuit],
) -> None:
    """Raises NoEffectError for a machine.KEY that differs from what the profile says, and changes nothing.

    `before`: the hosts without the settings; `shapes` of the circuits that are proved.
    """
    for key, value in settings.items():
        section, _, last = key.partition(".")
        last = last.rpartition(".")[2]
        if section == "machine":
            changed = [
                host for old, host in zip(before, hosts, strict=True) if _of(old, last) != _of(host, last)
            ]
        elif key in ("memory.safety_margin", "gpus.device_memory"):
            changed = [*hosts]
        else:
            continue
        if changed and (why := _in_vain(last, changed, settings, config, profile, shapes)):
            raise NoEffectError(key, f"--set {key}={value}: it changes nothing here: {why}")


def _of(host: Host, name: str) -> object:
    return getattr(host, "count" if name == "hosts" else name)


def _in_vain(
    last: str,
    hosts: Sequence[Host],
    settings: Mapping[str, str],
    config: Config,
    profile: MachineProfile,
    shapes: Collection[Circuit],
) -> str:
    """Why, and what to give instead; "" if it is not in vain on the `hosts`."""
    if last in ("gpu_memory", "device_memory", "gpu_speed", "pcie_bandwidth") and not _gpus_prove(
        hosts, config
    ):
        return "no GPU proves; machine.core_speed is that of the processors"
    why = {
        "cores": (profile.cores is None, _cores(profile)),
        "memory_bandwidth": (
            not profile.synthesis_slowdown,
            f"profile {profile.name} has no synthesis_slowdown that follows it; give that",
        ),
        "synthesis_slots": (
            bool(config.pipeline.synthesis_concurrency) or not config.pipeline.enabled,
            "the settings' pipeline goes before it; vary pipeline.synthesis_concurrency",
        ),
        "gpus": (
            config.gpus.devices not in ("auto", "all"),
            f"the settings' gpus.devices is {config.gpus.devices}; change that",
        ),
        "workers": (
            "gpus.gpu_workers_per_device" in settings,
            "gpus.gpu_workers_per_device is given, too, and goes before it; leave one out",
        ),
        "gpu_memory": _gpu_memory(config, shapes),
        "device_memory": (not _on_device(shapes), NOT_ON_DEVICE),
        "pcie_bandwidth": (
            not any(shape.device_entry for shape in shapes),
            f"no circuit that is proved keeps anything on a GPU; give device_srs {OWN_CIRCUIT}",
        ),
        **_memory(last, hosts, settings, config),
    }
    is_in_vain, text = why.get(last, (False, ""))
    return text if is_in_vain else ""


def _gpus_prove(hosts: Sequence[Host], config: Config) -> bool:
    return config.gpus.devices != "none" and any(host.gpus for host in hosts)


def _cores(profile: MachineProfile) -> str:
    return (
        f"profile {profile.name} does not say how many cores a stage keeps busy, so no time follows them; "
        "give [cores] with count and synthesis_cores, as `cuzk sim calibrate` writes it"
    )


def _gpu_memory(config: Config, shapes: Collection[Circuit]) -> tuple[bool, str]:
    if isinstance(config.gpus.device_memory, int):
        return True, "the settings' gpus.device_memory goes before it; vary that"
    return not _on_device(shapes), NOT_ON_DEVICE


def _on_device(shapes: Collection[Circuit]) -> bool:
    return any(shape.device_bytes or shape.device_entry for shape in shapes)


def _memory(
    last: str, hosts: Sequence[Host], settings: Mapping[str, str], config: Config
) -> dict[str, tuple[bool, str]]:
    """Of what gives the budget, by what goes before it."""
    total = isinstance(config.memory.total_budget, int)
    given = (True, "the settings have a memory.total_budget; vary that instead")
    if last == "budget":
        return {"budget": (total, given[1])}
    if last not in MEMORY or {"machine.budget", "memory.total_budget"} & settings.keys():
        return {}  # whoever gives a budget, too, asks whether the memory holds it
    own = next((host.name for host in hosts if host.budget is not None), None)
    return {
        last: given
        if total
        else (own is not None, f"host {own} has a budget of its own; vary machine.budget")
    }
