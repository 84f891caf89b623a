"""The budget comes from what is really there, and one that is not there is refused with the numbers."""

from pathlib import Path

import psutil
import pytest

from config import Config, GpusConfig, MemoryConfig, PipelineConfig, SchedulerConfig
from engine import EngineError
from engine.limits import Memory, budget_bytes, memory, policy_limits

GIB = 1 << 30
FOUND = Memory(16 * GIB, 10 * GIB, "the machine")


def settings(**values: object) -> Config:
    return Config(memory=MemoryConfig.model_validate(values))


def test_auto_is_what_is_available_less_the_margin() -> None:
    assert budget_bytes(settings(safety_margin="3GiB"), FOUND) == 7 * GIB


def test_a_size_is_taken_as_it_is_up_to_what_is_available() -> None:
    assert budget_bytes(settings(total_budget="10GiB"), FOUND) == 10 * GIB


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ({"total_budget": "11GiB"}, r"total_budget is 11GiB, but 10GiB of the machine's 16GiB is free"),
        ({"safety_margin": "12GiB"}, r"margin 12GiB, but 10GiB of the machine's 16GiB is free"),
    ],
)
def test_memory_that_is_not_there_is_refused(values: dict[str, str], numbers: str) -> None:
    with pytest.raises(EngineError, match=numbers):
        budget_bytes(settings(**values), FOUND)


def test_a_container_has_less_than_the_machine(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "cg").mkdir()
    (tmp_path / "self/cgroup").write_text("0::/\n")
    (tmp_path / "self/mountinfo").write_text(f"30 23 0:26 / {tmp_path}/cg rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "cg/memory.max").write_text("8000000")
    (tmp_path / "cg/memory.current").write_text("3000000")
    assert memory(tmp_path) == Memory(8_000_000, 5_000_000, f"the control group {tmp_path / 'cg'}")


def test_without_a_container_the_machine_counts(tmp_path: Path) -> None:
    found = memory(tmp_path)
    assert (found.total_bytes, found.source) == (psutil.virtual_memory().total, "the machine")
    assert 0 < found.available_bytes < found.total_bytes


def test_slots_and_workers_are_the_settings() -> None:
    config = Config(
        gpus=GpusConfig(devices="none", gpu_workers_per_device=3),
        pipeline=PipelineConfig(synthesis_concurrency=4, synthesis_lookahead=5),
    )
    limits = policy_limits(config, FOUND)
    assert (limits.synthesis_slots, limits.synthesis_lookahead) == (4, 5)
    assert [(device.name, device.workers, device.memory_bytes) for device in limits.devices] == [
        ("cpu", 3, None)
    ]


def test_the_lookahead_is_as_many_as_synthesize_at_once_and_has_no_bound_in_bytes_unless_set() -> None:
    limits = policy_limits(Config(pipeline=PipelineConfig(synthesis_concurrency=4)), FOUND)
    assert (limits.synthesis_lookahead, limits.lookahead_bytes) == (4, None)
    pipeline = PipelineConfig.model_validate({"synthesis_lookahead_bytes": "2GiB"})
    assert policy_limits(Config(pipeline=pipeline), FOUND).lookahead_bytes == 2 << 30


def test_the_scheduler_follows_its_settings() -> None:
    settings = SchedulerConfig(max_batch_size=7, max_batch_wait_ms=1500, sort_by_type=False)
    limits = policy_limits(Config(scheduler=settings), FOUND)
    assert (limits.max_batch_size, limits.max_batch_wait_s, limits.sort_by_type) == (7, 1.5, False)


def test_without_the_pipeline_synthesis_and_proving_take_turns() -> None:
    limits = policy_limits(Config(pipeline=PipelineConfig(enabled=False, synthesis_concurrency=4)), FOUND)
    assert (limits.synthesis_slots, limits.synthesis_lookahead) == (1, 0)
