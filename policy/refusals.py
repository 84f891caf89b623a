"""What can never run is refused at once, with the numbers and with what would do."""

from policy.model import Circuit, Device
from policy.wording import bytes_text


def budget_refusal(circuit: Circuit, working_bytes: int, budget_bytes: int) -> str | None:
    """Even alone, a partition holds its working set and all its entries together."""
    needed_bytes = circuit.entries_bytes + working_bytes
    if needed_bytes <= budget_bytes:
        return None
    measured = "" if working_bytes == circuit.working_bytes else ", as measured"
    return (
        f"one partition of {circuit.name} needs {bytes_text(needed_bytes)}:"
        f" {bytes_text(circuit.entries_bytes)} SRS and PCE,"
        f" {bytes_text(working_bytes)} working set{measured};"
        f" the budget is {bytes_text(budget_bytes)}; a budget of {needed_bytes} bytes would do"
    )


def device_refusal(circuit: Circuit, devices: tuple[Device, ...]) -> str | None:
    if not circuit.device_bytes:
        return None
    sizes = [device.memory_bytes for device in devices if device.memory_bytes is not None]
    if len(sizes) < len(devices) or circuit.device_bytes <= max(sizes):
        return None
    return (
        f"one partition of {circuit.name} needs {bytes_text(circuit.device_bytes)} of a device's memory,"
        f" the largest device has {bytes_text(max(sizes))}; a device of {circuit.device_bytes} bytes would do"
    )
