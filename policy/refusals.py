"""What can never run is refused at once, with the numbers and with what would do."""

from collections.abc import Sequence

from policy.model import Circuit, Device
from policy.wording import bytes_text, bytes_text_up


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
        f" the budget is {bytes_text(budget_bytes)}; a budget of {bytes_text_up(needed_bytes)} would do"
    )


def device_refusal(circuit: Circuit, devices: Sequence[Device], lost: Sequence[str] = ()) -> str | None:
    """A device holds the circuit's entry and at least one partition beside it. `lost`: names of others."""
    gone = f"; {' and '.join(lost)} {'are' if len(lost) > 1 else 'is'} lost" if lost else ""
    if not devices:
        return f"one partition of {circuit.name} needs a device, and none is left{gone}"
    needed_bytes = circuit.device_entry_bytes + circuit.device_bytes
    sizes = [device.memory_bytes for device in devices if device.memory_bytes is not None]
    if len(sizes) < len(devices) or needed_bytes <= max(sizes):
        return None
    parts = ""
    if circuit.device_entry is not None:
        parts = (
            f" ({bytes_text(circuit.device_entry_bytes)} SRS, {bytes_text(circuit.device_bytes)} beside it)"
        )
    return (
        f"one partition of {circuit.name} needs {bytes_text(needed_bytes)} of a device's memory{parts},"
        f" the largest device has {bytes_text(max(sizes))};"
        f" a device of {bytes_text_up(needed_bytes)} would do{gone}"
    )
