"""The processes that bring faults to a cluster's hosts while it works."""

from collections.abc import Generator
from typing import Any

from simpy import Environment
from simpy import Event as Signal

from sim.cluster import Cluster
from sim.faults import Faults, intervals
from sim.host import SimulatedHost

Steps = Generator[Signal, Any, None]


def bring_trouble(env: Environment, cluster: Cluster, faults: Faults, seed: int) -> None:
    """Start what goes wrong by itself, on each host by its own stream of random numbers."""
    for host in cluster.hosts:
        stream = f"{seed}/{host.modelled.name}"
        if faults.process_death:
            env.process(_deaths(env, cluster, host, faults, f"{stream}/deaths"))
        if faults.slow_disk:
            env.process(_slow_spells(env, host, faults, f"{stream}/disk"))
        for device in host.modelled.limits.devices if faults.device_loss else ():
            env.process(_losses(env, host, device.name, faults, f"{stream}/{device.name}"))


def _deaths(env: Environment, cluster: Cluster, host: SimulatedHost, faults: Faults, stream: str) -> Steps:
    for wait_s in intervals(faults.process_death, stream):
        yield env.timeout(wait_s)
        host.die()
        cluster.lose(host)
        yield env.timeout(faults.restart)
        host.start()
        cluster.dispatch()


def _slow_spells(env: Environment, host: SimulatedHost, faults: Faults, stream: str) -> Steps:
    for wait_s in intervals(faults.slow_disk, stream):
        yield env.timeout(wait_s)
        host.durations.disk_factor = faults.slow_disk_factor
        yield env.timeout(faults.slow_disk_for)
        host.durations.disk_factor = 1.0


def _losses(env: Environment, host: SimulatedHost, device: str, faults: Faults, stream: str) -> Steps:
    for wait_s in intervals(faults.device_loss, stream):
        yield env.timeout(wait_s)
        machine = host.machine
        if not host.up:
            continue
        machine.lose_device(device, f"{device} was lost, as the seed would have it")
        yield env.timeout(faults.device_repair)
        machine.restore_device(device)  # of a process that has died meanwhile it makes no difference
