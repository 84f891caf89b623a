"""Two pools of their own size, kept to their own cores where the settings say so."""

import os
import threading
from pathlib import Path

import pytest

from config import Config, GpusConfig, MemoryConfig, SynthesisConfig
from engine import CircuitSpec, Engine, EngineError, ProofRequest, circuit, policy_limits
from engine.limits import Memory, proving_threads, synthesis_threads
from engine.pools import Pools
from groth16.witness import Witness
from policy import Device, Limits
from tests.engine.support import CONFIG, limits_for, run

LIMITS = Limits(1, 1, (Device("cpu", 1),))
CORES = sorted(os.sched_getaffinity(0))
FOUND = Memory(1 << 40, 1 << 40, "the machine")


def where() -> tuple[str, set[int]]:
    return threading.current_thread().name, os.sched_getaffinity(0)


def test_threads_keep_to_their_cores_and_others_are_left_alone() -> None:
    config = Config(synthesis=SynthesisConfig(cores=CORES[:1]), gpus=GpusConfig(gpu_threads=3))
    pools = Pools(config, LIMITS)
    synthesis, proving = pools.synthesis(lambda: False), pools.proving(lambda: False)
    assert (synthesis.threads, proving.threads) == (1, 3)
    name, cores = synthesis(where, [()])[0]
    assert name.startswith("synthesis")
    assert cores == {CORES[0]}
    name, cores = proving(where, [()])[0]
    assert name.startswith("proving")
    assert cores == set(CORES)
    assert pools.steps == 1  # the second step, counted from 0
    pools.close()


@pytest.mark.parametrize(
    ("config", "devices", "expected"),
    [
        (Config(), (Device("cpu", 1),), (4, 8)),
        (Config(), (Device("gpu0", 1, 1 << 30),), (8, 8)),
        (
            Config(synthesis=SynthesisConfig(threads=7), gpus=GpusConfig(gpu_threads=3)),
            LIMITS.devices,
            (7, 3),
        ),
        (Config(synthesis=SynthesisConfig(cores=[0]), gpus=GpusConfig(cores=[1, 2])), LIMITS.devices, (1, 2)),
    ],
)
def test_synthesis_leaves_half_of_the_processors_to_those_that_prove_on_them(
    config: Config, devices: tuple[Device, ...], expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert (synthesis_threads(config, devices), proving_threads(config)) == expected


def test_a_witness_is_made_on_the_threads_of_synthesis(
    right_witness: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, real = list[str](), circuit.read_witness

    def read(path: Path) -> Witness:
        seen.append(threading.current_thread().name)
        return real(path)

    monkeypatch.setattr(circuit, "read_witness", read)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(right_witness, 1)) as running:
            await running.result(running.submit(ProofRequest(right_witness, "one", tmp_path)))

    run(steps())
    assert [name.rpartition("_")[0] for name in seen] == ["synthesis"]


def test_cores_that_are_not_there_are_refused_by_name() -> None:
    config = Config(memory=MemoryConfig(total_budget=1), gpus=GpusConfig(cores=[CORES[0], 1 << 20]))
    with pytest.raises(EngineError, match=r"gpus\.cores names core 1048576, expected some of those"):
        policy_limits(config, FOUND)
