"""Which keys lie on the GPUs while the engine proves, checked on a real device and timed.

    python -m benchmarks.gpu.residency [--circuit KIND:CONSTRAINTS:CURVE] [--gpus N] [--folder PATH]

Partitions of one circuit share its key, a second proof sends nothing, a second circuit has the first evicted
where there is no room for both, and nothing stays of a run. With several GPUs a batch uses all of them, each
key is sent to each once, and what a lost one was to prove comes from the others. Ends with status 1 where
something is not so.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
from numba import cuda
from typing_extensions import override

import engine.gpu
from benchmarks.circuits.prepared import Circuit, default_folder, prepare
from config import Config, GpusConfig
from engine import CircuitSpec, Engine, ProofRequest, load_shape
from engine.compiling import compile_once
from engine.single import setup_file
from kernels.cuda.device import Device as Cuda
from kernels.cuda.errors import DeviceLost
from kernels.fields import CURVES
from policy import BudgetPolicy, Decision, Device, Event, EvictFromDevice, Limits, Prove, Proved, Upload

SAMPLE_S = 0.002


class Logged(BudgetPolicy):
    """The engine's policy, and what it decided."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.log: list[tuple[Event, list[Decision]]] = []

    @override
    def handle(self, event: Event, now_s: float) -> list[Decision]:
        decisions = super().handle(event, now_s)
        self.log.append((event, decisions))
        return decisions

    def decided(self, kind: type[Decision]) -> list[Any]:
        return [each for _, decisions in self.log for each in decisions if isinstance(each, kind)]

    def most_at_once(self) -> Counter[str]:
        """Proofs on each device."""
        most, now, places = Counter[str](), Counter[str](), dict[Any, str]()
        for event, decisions in self.log:
            if isinstance(event, Proved):
                now[places[event.partition]] -= 1
            for each in decisions:
                if isinstance(each, Prove):
                    places[each.partition] = each.device
                    now[each.device] += 1
                    most[each.device] = max(most[each.device], now[each.device])
        return most


@dataclass
class Run:
    """What came of some proofs: seconds of each stage by proof, and the most that was held on each GPU."""

    policy: Logged
    wall_s: float = 0.0
    prove_s: list[float] = field(default_factory=list)
    held_bytes: Counter[str] = field(default_factory=Counter)

    @property
    def uploads(self) -> Counter[str]:
        return Counter(each.device for each in self.policy.decided(Upload))

    @property
    def devices(self) -> Counter[str]:
        return Counter(each.device for each in self.policy.decided(Prove))


class Checks:
    """Says what holds and what does not."""

    def __init__(self) -> None:
        self.failed = 0

    def __call__(self, holds: bool, text: str) -> None:
        self.failed += not holds
        click.echo(f"{'ok ' if holds else 'NOT'} {text}")


async def prove(specs: Sequence[CircuitSpec], devices: Sequence[Device], folder: Path, at_once: int) -> Run:
    """A proof of each, `at_once` of them handed in at a time."""
    shapes = {spec.zkey: load_shape(spec) for spec in specs}
    budget_bytes = sum(each.entries_bytes for each in shapes.values())
    budget_bytes += 8 * max(each.working_bytes for each in shapes.values())
    config = Config(gpus=GpusConfig(devices=[int(device.name[3:]) for device in devices]))
    limits = Limits(budget_bytes, 4, tuple(devices), synthesis_lookahead=4)
    run = Run(Logged(limits))
    began_s = time.perf_counter()
    async with Engine(config, limits, policy=run.policy) as running:
        watching = asyncio.create_task(_watch(running, run))
        for number in range(0, len(specs), at_once):
            some = enumerate(specs[number : number + at_once], number)
            ids = [running.submit(ProofRequest(spec, str(n), folder / str(n))) for n, spec in some]
            for proof_id in ids:
                result = await running.result(proof_id)
                run.prove_s.append(result.stage_seconds["prove"])
        run.wall_s = time.perf_counter() - began_s
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    shutil.rmtree(folder)
    return run


async def _watch(running: Engine, run: Run) -> None:
    while True:
        for name, size_bytes in running._executor.gpu_held_bytes().items():
            run.held_bytes[name] = max(run.held_bytes[name], size_bytes)
        await asyncio.sleep(SAMPLE_S)


def arrays_left(gpus: int) -> list[int]:
    """How many arrays of this process lie on each GPU."""
    left = []
    for ordinal in range(gpus):
        with Cuda(ordinal).active():
            gc.collect()
            Cuda(ordinal).free_bytes()
            context = cuda.current_context()  # type: ignore[no-untyped-call]
            left.append(len(context.memory_manager.allocations))
    return left


@contextmanager
def losing(name: str, after: int) -> Iterator[None]:
    """Inside the block, the GPU of this name fails for good at its proof number `after`."""
    real, calls = engine.gpu.Gpu.sums, itertools.count()

    def sums(self: engine.gpu.Gpu, *arguments: Any) -> Any:
        if self.name == name and next(calls) >= after:
            raise DeviceLost(f"{name} failed: as was asked for")
        return real(self, *arguments)

    with patch.object(engine.gpu.Gpu, "sums", sums):
        yield


def on_one(check: Checks, one: CircuitSpec, other: CircuitSpec, folder: Path) -> None:
    shape = load_shape(one)
    key_bytes, working_bytes = shape.device_entry_bytes, shape.device_bytes
    click.echo(f"key {key_bytes:,} bytes, beside it {working_bytes:,} for each partition")
    shared = Device("gpu0", 2, key_bytes + 2 * working_bytes)
    run = asyncio.run(prove([one] * 8, [shared], folder, 8))
    check(run.uploads == {"gpu0": 1}, f"8 proofs of one circuit, uploads: {dict(run.uploads)}")
    check(run.policy.most_at_once()["gpu0"] == 2, "two partitions share the key on the card")
    _within(check, run, [shared])
    click.echo(f"    prove stages: {_ms(run.prove_s)} ms; {run.wall_s:.2f} s in all")
    run = asyncio.run(prove([one] * 4, [shared], folder, 1))
    check(run.uploads == {"gpu0": 1}, f"one after the other, uploads: {dict(run.uploads)}")
    click.echo(f"    prove stages, the first with its upload: {_ms(run.prove_s)} ms")
    narrow = Device("gpu0", 2, key_bytes * 3 // 2 + working_bytes)
    run = asyncio.run(prove([one, one, other, other, one], [narrow], folder, 1))
    evicted = [each.entry.key for each in run.policy.decided(EvictFromDevice)]
    check(run.uploads == {"gpu0": 3}, f"two circuits in turn on a card for one, uploads: {dict(run.uploads)}")
    check(len(evicted) == 2 and len(set(evicted)) == 2, f"evicted in turn: {evicted}")
    _within(check, run, [narrow])
    click.echo(f"    prove stages, 1, 3 and 5 with an upload: {_ms(run.prove_s)} ms")


def on_several(check: Checks, specs: Sequence[CircuitSpec], gpus: int, folder: Path) -> None:
    shape = load_shape(specs[0])
    memory_bytes = 2 * shape.device_entry_bytes + 4 * shape.device_bytes
    devices = [Device(f"gpu{number}", 2, memory_bytes) for number in range(gpus)]
    names = {device.name for device in devices}
    single = asyncio.run(prove([specs[0]] * 16, devices[:1], folder, 16))
    run = asyncio.run(prove([specs[0]] * 16, devices, folder, 16))
    check(run.devices.keys() == names, f"16 proofs of one circuit go to {dict(run.devices)}")
    check(set(run.uploads.values()) == {1}, f"uploads: {dict(run.uploads)}")
    click.echo(f"    {run.wall_s:.2f} s on {gpus} GPUs, {single.wall_s:.2f} s on one")
    run = asyncio.run(prove([*specs] * 8, devices, folder, 16))
    sent = Counter((each.device, each.entry.key) for each in run.policy.decided(Upload))
    check(set(sent.values()) == {1}, f"16 of two circuits, each key sent to a GPU once: {len(sent)}")

    with losing("gpu1", after=2):
        run = asyncio.run(prove([specs[0]] * 16, devices, folder, 16))
    kinds = Counter(type(event).__name__ for event, _ in run.policy.log)
    check(kinds["Verified"] == 16, f"gpu1 is lost at its third proof, proofs: {kinds['Verified']}")
    check(kinds["DeviceLost"] == 1 and kinds["Displaced"] >= 1, f"displaced: {kinds['Displaced']}")
    after = list(itertools.dropwhile(lambda each: type(each[0]).__name__ != "DeviceLost", run.policy.log))
    places = {each.device for _, made in after for each in made if isinstance(each, Prove)}
    check("gpu1" not in places, f"after that, work goes to {sorted(places)}; {run.wall_s:.2f} s in all")


def _within(check: Checks, run: Run, devices: Sequence[Device]) -> None:
    for device in devices:
        held_bytes, own_bytes = run.held_bytes[device.name], device.memory_bytes or 0
        check(0 < held_bytes <= own_bytes, f"at most {held_bytes:,} of {own_bytes:,} bytes held")


def _ms(seconds: Sequence[float]) -> str:
    return ", ".join(f"{each * 1000:.0f}" for each in seconds)


@click.command()
@click.option("--circuit", default="dense:1000000:bn254", show_default=True)
@click.option("--gpus", default=1, show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), default=None)
def main(circuit: str, gpus: int, folder: Path | None) -> None:
    """Prove, check and tell."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    wanted, kept = Circuit.parse(circuit), folder or default_folder()
    curve = CURVES[wanted.curves[0]]
    files = prepare(wanted, curve, kept, click.echo)
    for purpose in ("prove", "gpu"):
        compile_once(purpose, curve.name, click.echo)
    if not files.zkey.exists():
        seconds = setup_file(files.r1cs, files.zkey, threads=8, gpu=0, report=click.echo)
        click.echo(f"the key was made in {seconds:.1f} s")
    copied = files.zkey.with_suffix(".other.zkey")
    shutil.copy(files.zkey, copied)
    one = CircuitSpec("one", files.zkey, witness=files.wtns)
    other = CircuitSpec("other", copied, witness=files.wtns)
    check = Checks()
    asyncio.run(prove([one], [Device("gpu0", 1, 1 << 40)], kept / "warm", 1))
    before = arrays_left(gpus)
    on_one(check, one, other, kept / "proofs")
    if gpus > 1:
        on_several(check, [one, other], gpus, kept / "proofs")
    after = arrays_left(gpus)
    lost = 1 if gpus > 1 else gpus  # what a lost GPU holds stays until the process ends
    check(before[:lost] == after[:lost], f"arrays left on the GPUs: {before} before, {after} after")
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
