"""Cases in which circuits keep something on the devices, and devices are lost."""

from dataclasses import replace
from random import Random

from policy import Circuit, Device, Entry, Job
from sim.torture.case import Arrival, At, Case, Crowded, Fault, Loss


def with_residents(random: Random, case: Case, horizon_s: float) -> Case:
    """The case, or the same with more on its devices; `random` is of this alone, so the rest stays."""
    if random.random() < 0.5:
        return case
    largest_bytes = max([device.memory_bytes or 0 for device in case.limits.devices]) or 1000
    devices = [_with_memory(random, device, largest_bytes) for device in case.limits.devices]
    entries = [Entry(f"key{i}", int(largest_bytes * random.choice((0.2, 0.3, 0.5, 0.6)))) for i in range(5)]
    circuits = {arrival.job.circuit: arrival.job.circuit for arrival in case.arrivals}
    for circuit in circuits:
        circuits[circuit] = _with_entry(random, circuit, entries, largest_bytes)
    arrivals = [_of_circuit(arrival, circuits[arrival.job.circuit]) for arrival in case.arrivals]
    faults = [fault for device in devices for fault in _losses(random, device, horizon_s)]
    return replace(
        case,
        limits=replace(case.limits, devices=tuple(devices)),
        arrivals=tuple(arrivals),
        faults=(*case.faults, *faults),
    )


def _of_circuit(arrival: Arrival, circuit: Circuit) -> Arrival:
    job = arrival.job
    job = Job(job.id, circuit, job.partitions, job.priority, job.due_s)
    return Arrival(arrival.number, arrival.at_s, job, arrival.deadline_s, arrival.retries)


def _with_memory(random: Random, device: Device, largest_bytes: int) -> Device:
    """More of them than else have memory of their own, and several workers."""
    if random.random() < 0.3:
        return device
    memory_bytes = max(1, int(largest_bytes * random.choice((0.5, 1.0, 1.0))))
    return replace(device, memory_bytes=memory_bytes, workers=random.choice((1, 2, 3)))


def _with_entry(random: Random, circuit: Circuit, entries: list[Entry], largest_bytes: int) -> Circuit:
    """From a small one to one that leaves no room for a second partition; sometimes one that never fits."""
    entry = random.choice((None, *entries, *entries))
    if random.random() < 0.05:
        entry = Entry("enormous key", largest_bytes + 1)
    beside_bytes = max(0, largest_bytes - (entry.size_bytes if entry else 0))
    device_bytes = int(beside_bytes * random.choice((0.0, 0.2, 0.4, 0.5, 1.0, 1.0)))
    return replace(circuit, device_entry=entry, device_bytes=device_bytes)


def _losses(random: Random, device: Device, horizon_s: float) -> list[Fault]:
    """Of some devices, with little memory before."""
    if random.random() < random.choice((0.5, 1.0)):
        return []
    at_s = float(int(random.random() * horizon_s))
    return [At(at_s / 2, Crowded(device.name)), At(at_s, Loss(device.name))]
