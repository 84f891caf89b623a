"""The processes that bring faults to a cluster's hosts while it works."""

from collections.abc import Generator
from typing import Any

from simpy import Event as Signal

from sim.clock import Clock
from sim.cluster import Cluster
from sim.faults import Faults, intervals
from sim.host import SimulatedHost

Steps = Generator[Signal, Any, None]


def bring_trouble(env: Clock, cluster: Cluster, faults: Faults, seed: int) -> None:
    """Start what goes wrong by itself, on each host by its own stream of random numbers."""
    for host in cluster.hosts:
        stream = f"{seed}/{host.modelled.name}"
        if faults.process_death:
            env.process(_deaths(env, cluster, host, faults, f"{stream}/deaths"))
        if faults.slow_disk:
            env.process(_slow_spells(env, host, faults, f"{stream}/disk"))
        for device in host.modelled.limits.devices if faults.device_loss else ():
            env.process(_losses(env, cluster, host, device.name, faults, f"{stream}/{device.name}"))


def _deaths(env: Clock, cluster: Cluster, host: SimulatedHost, faults: Faults, stream: str) -> Steps:
    for wait_s in intervals(faults.process_death, stream):
        yield env.timeout(wait_s)
        if host.up:
            yield from _begin_anew(env, cluster, host, faults.restart)


def _begin_anew(env: Clock, cluster: Cluster, host: SimulatedHost, away_s: float) -> Steps:
    host.die()
    cluster.lose(host)
    yield env.timeout(away_s)
    host.start()
    cluster.take_back(host)


def _slow_spells(env: Clock, host: SimulatedHost, faults: Faults, stream: str) -> Steps:
    for wait_s in intervals(faults.slow_disk, stream):
        yield env.timeout(wait_s)
        host.durations.disk_factor = faults.slow_disk_factor
        yield env.timeout(faults.slow_disk_for)
        host.durations.disk_factor = 1.0


def _losses(env: Clock, cluster: Cluster, host: SimulatedHost, device: str, faults: Faults,
            stream: str) -> Steps:  # fmt: skip
    for wait_s in intervals(faults.device_loss, stream):
        yield env.timeout(wait_s)
        if not host.up or device not in host.devices:
            continue
        if host.devices == {device}:  # without a device it can do nothing
            yield from _begin_anew(env, cluster, host, faults.device_repair)
            continue
        life = len(host.ended)
        host.devices.remove(device)
        host.machine.lose_device(device)
        yield env.timeout(faults.device_repair)
        if host.up and len(host.ended) == life:  # else it has begun anew meanwhile, with all devices
            yield from _begin_anew(env, cluster, host, faults.restart)
