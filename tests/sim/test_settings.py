"""What can be varied, and what a question becomes by it."""

from __future__ import annotations

import pytest

from sim import SimError
from sim.faults import AFTER
from sim.quantities import IN_A_FILE
from sim.scenario import refusal
from sim.settings import combinations, given_by, known_keys, read_setting, read_settings, read_values
from sim.workload import ClosedLoop, OpenLoop
from sim.workload_file import WorkloadTable
from tests.sim.question import CIRCUITS, HOST, KIB, closed, opened, question


def test_lists_and_ranges_are_spelled_out() -> None:
    assert [value for _, value in read_values("machine.gpus=1..4")] == ["1", "2", "3", "4"]
    assert [value for _, value in read_values("machine.gpus=0..8..4,1")] == ["0", "4", "8", "1"]
    sizes = [value for _, value in read_values("machine.memory=128GiB..384GiB..128GiB")]
    assert sizes == ["128GiB", "256GiB", "384GiB"]
    assert read_values("policy=budget,fixed:3") == [("policy", "budget"), ("policy", "fixed:3")]


def test_every_combination_is_made_in_order() -> None:
    found = combinations(["machine.gpus=1..2", "memory.total_budget=1GiB,2GiB"])
    assert [tuple(point.values()) for point in found] == [
        ("1", "1GiB"), ("1", "2GiB"), ("2", "1GiB"), ("2", "2GiB")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("machine.gpus", "expected KEY=VALUES, such as machine.gpus=1,2"),
        ("machine.gpus=", "expected KEY=VALUES, such as machine.gpus=1,2"),
        ("machine.gpsu=2", "did you mean 'machine.gpus'?"),
        ("memory.total_budgte=2GiB", "did you mean 'memory.total_budget'?"),
        ("logging.level=debug", "it changes nothing in a simulation"),
        ("machine.name=x", "there is no such setting"),
        ("policy=fixed:0", 'expected "budget", or "fixed:N"'),
        ("machine.gpus=4..1", "from 4 to 1 by 1 there is nothing"),
        ("machine.memory=1GiB..9GiB", "a range of sizes needs a step"),
        ("machine.gpus=1..100000", "more than 1000 values"),
    ],
)
def test_what_cannot_be_varied_is_refused(text: str, message: str) -> None:
    with pytest.raises(SimError) as error:
        read_values(text)
    assert message in str(error.value)
    assert str(error.value).startswith(("--vary", "policy"))


@pytest.mark.parametrize(
    ("key", "guess"),
    [
        ("machine.foo", None), ("nosuch", None), ("memory.x", None), ("workload.porep-32g.x", None),
        ("machine.memroy", "machine.memory"), ("machine.box.gpsu", "machine.gpus"), ("plicy", "policy"),
        ("gpu.devices", "gpus.devices"), ("workload.small.deadlin", "workload.deadline"),
    ],
)  # fmt: skip
def test_a_setting_is_guessed_by_its_own_name_not_by_its_sections(key: str, guess: str | None) -> None:
    with pytest.raises(SimError) as error:
        read_setting(f"{key}=1", "--with")
    hint = f"did you mean {guess!r}?" if guess else f"expected one of {', '.join(known_keys())}"
    assert str(error.value) == f"--with {key}: there is no such setting; {hint}"


def test_what_is_wrong_is_said_of_the_option_that_gave_it() -> None:
    asked = question(closed())
    given = {"machine.cores": "two", "machine.gpus": "x"}
    for option, key in (("--vary", "machine.cores"), ("--with", "machine.gpus")):
        with pytest.raises(SimError, match=f"^{option} {key}: found"), given_by(option, [key]):
            asked.scenario({key: given[key]})
        with pytest.raises(SimError, match=f"^--set {key}: found"), given_by(option, ["machine.memory"]):
            asked.scenario({key: given[key]})


def test_too_many_combinations_are_refused() -> None:
    with pytest.raises(SimError, match="2500 combinations, expected at most 1000"):
        combinations(["machine.gpus=1..50", "machine.cores=1..50"])
    with pytest.raises(SimError, match="is there twice"):
        combinations(["machine.gpus=1", "machine.gpus=2"])
    with pytest.raises(SimError, match=r"workload\.poisson and --vary workload\.every are both given"):
        combinations(["workload.poisson=1/h", "workload.every=1h"])


def test_each_thing_is_set_once_and_what_is_of_one_host_goes_before_what_is_of_all() -> None:
    assert [*read_settings(["machine.box.gpus=3", "machine.gpus=2", "policy=fixed:1"])] == [
        "policy", "machine.gpus", "machine.box.gpus"
    ]  # fmt: skip
    for one, other in (
        ("machine.gpus=1", "machine.gpus=2"),
        ("machine.box.gpus=1", "machine.box.gpus=1"),
        ("workload.poisson=1/h", "workload.every=1h"),
    ):
        with pytest.raises(SimError, match=f"^--set {one} and --set {other} are both given, and one alone"):
            read_settings([one, other])
    with pytest.raises(SimError, match=r"^--with policy=fixed:1 and --with policy=budget are both"):
        read_settings(["policy=fixed:1", "policy=budget"], "--with")


def test_the_load_multiplies_a_rate_that_is_set_after_it() -> None:
    asked = question(opened(3600.0, poisson=0.1))
    workload = asked.scenario({"workload.load": "2", "workload.every": "10m"}).workload
    assert isinstance(workload, OpenLoop)
    assert [at_s for at_s, _ in workload.requests(0)][:3] == [0.0, 300.0, 600.0]
    with pytest.raises(SimError, match=r"it is of the whole workload, not of a circuit; give workload\.load"):
        asked.scenario({"workload.small.load": "2"})


def test_every_known_key_is_taken_by_the_question_that_it_suits() -> None:
    values = {
        "policy": "fixed:2", "machine.hosts": "2", "machine.cores": "4", "machine.memory": "6GiB",
        "machine.budget": "300KiB", "machine.memory_bandwidth": "2GB/s", "machine.disks": "2",
        "machine.disk_bandwidth": "2MB/s", "machine.gpus": "2", "machine.gpu_memory": "20GiB",
        "machine.workers": "3", "machine.pcie_bandwidth": "1GB/s", "machine.synthesis_slots": "3",
        "machine.core_speed": "2.0",
        "machine.gpu_speed": "2", "memory.total_budget": "250KiB", "memory.safety_margin": "1KiB",
        "memory.eviction_min_idle": "1s", "gpus.devices": "none", "gpus.device_memory": "1GiB",
        "gpus.gpu_workers_per_device": "3", "scheduler.max_batch_size": "2",
        "scheduler.max_batch_wait_ms": "100", "scheduler.sort_by_type": "false", "pipeline.enabled": "false",
        "pipeline.synthesis_lookahead": "2", "pipeline.synthesis_lookahead_bytes": "100KiB",
        "pipeline.synthesis_concurrency": "3", "workload.load": "2", "workload.duration": "2h",
        "workload.count": "4", "workload.concurrency": "2", "workload.deadline": "1h",
        "workload.poisson": "9/h", "workload.every": "1m", "faults.stage_failures": "10%",
        "faults.retries": "3", "faults.device_loss": "1h", "faults.device_repair": "1m",
        "faults.process_death": "1h", "faults.restart": "2m", "faults.slow_disk": "1h",
        "faults.slow_disk_for": "1m", "faults.slow_disk_factor": "2.0",
        "prices.host": "100.5", "prices.core": "2", "prices.memory_gib": "3", "prices.disk": "5",
        "prices.gpu": "7",
    }  # fmt: skip
    assert set(values) == set(known_keys())
    on_device = {"small": CIRCUITS["small"] | {"device_memory": 10 * KIB, "device_srs": KIB}}
    batch = question(closed() | {"circuits": on_device}, synthesis_slowdown=0.1, cores={"count": 8})
    stream = question(opened(3600.0, poisson=0.1))
    for key, value in values.items():
        of_stream = key.rpartition(".")[2] in ("load", "duration", "deadline", "poisson", "every")
        asked = stream if key.startswith("workload.") and of_stream else batch
        read_setting(f"{key}={value}")
        fault = {
            f"faults.{each}": "9%" if each == "stage_failures" else "1h"
            for each in AFTER.get(key.rpartition(".")[2], ())[:1]
        }
        before, changed = asked.scenario(fault), asked.scenario(fault | {key: value})
        assert changed.settings == fault | {key: value}
        assert (changed.hosts, changed.workload, changed.policy, changed.faults, changed.cost) != (
            before.hosts, before.workload, before.policy, before.faults, before.cost
        ), key  # fmt: skip


def test_settings_reach_what_they_name() -> None:
    asked = question(closed(), [HOST, HOST | {"name": "other"}])
    scenario = asked.scenario({"machine.other.gpus": "3", "machine.box.hosts": "2"})
    assert [(host.name, len(host.limits.devices)) for host in scenario.hosts] == [
        ("box-1", 1), ("box-2", 1), ("other", 3)
    ]  # fmt: skip
    workload = asked.scenario({"workload.small.count": "7", "workload.concurrency": "3"}).workload
    assert isinstance(workload, ClosedLoop)
    assert (workload.batches[0].count, workload.batches[0].concurrency) == (7, 3)


def test_a_new_timing_takes_the_place_of_the_old_one() -> None:
    asked = question(opened(3600.0, poisson=0.1))
    workload = asked.scenario({"workload.every": "10m"}).workload
    assert isinstance(workload, OpenLoop)
    assert [at_s for at_s, _ in workload.requests(0)] == [600.0 * number for number in range(6)]


@pytest.mark.parametrize(
    "old", [{"cron": "30 12 * * *", "timezone": "Europe/Berlin"}, {"every": 600.0, "offset": 60.0}]
)
def test_and_of_what_the_old_one_went_by(old: dict[str, str | float]) -> None:
    asked = question(opened(7200.0, **old))
    assert isinstance(asked.scenario({"workload.poisson": "9/h"}).workload, OpenLoop)
    workload = asked.scenario({"workload.every": "1h"}).workload
    assert isinstance(workload, OpenLoop)
    offset_s = old.get("offset", 0.0)
    assert [at_s for at_s, _ in workload.requests(0)] == [offset_s, 3600.0 + float(offset_s)]


def test_load_multiplies_the_rate() -> None:
    asked = question(opened(100_000.0, poisson=0.01))
    counts = []
    for load in ("1", "2.5"):
        workload = asked.scenario({"workload.load": load}).workload
        assert isinstance(workload, OpenLoop)
        counts.append(sum(workload.counts(0)))
    assert counts[1] / counts[0] == pytest.approx(2.5, rel=0.1)


def test_the_cost_is_the_sum_over_the_hosts() -> None:
    asked = question(closed())
    assert asked.scenario().cost == pytest.approx(100 + 50 + 50, rel=0.01)
    assert asked.scenario({"machine.gpus": "3", "machine.hosts": "2"}).cost == pytest.approx(
        2 * 300, rel=0.01
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"machine.nobody.gpus": "2"}, "no host is named 'nobody'; expected one of box"),
        ({"machine.gpus": "two"}, "--set machine.gpus: found 'two', expected a whole number"),
        ({"machine.memory": "384"}, "--set machine.memory: found 384, expected a size with its unit"),
        ({"memory.total_budget": "much"}, "--set memory.total_budget: found 'much', expected a size"),
        ({"workload.deadline": "1h"}, "the workload is closed, and its batches have none"),
        ({"workload.other.count": "1"}, "the workload has no other"),
        ({"workload.load": "2"}, 'describe an open one (kind = "open" with [[arrivals]])'),
        ({"faults.stage_failures": "2"}, "--set faults.stage_failures: found 2, expected a percentage"),
        (
            {"faults.stage_failures": "100%"},
            "--set faults.stage_failures: found 100%, expected a percentage from 0% to less than 100%",
        ),
        ({"memory.safety_margin": "5"}, "--set memory.safety_margin: found 5, expected a size with its unit"),
        (
            {"memory.eviction_min_idle": "5"},
            "memory.eviction_min_idle: found 5, expected a duration with its",
        ),
        (
            {"faults.device_loss": "0s"},
            "faults.device_loss: found 0s, expected a time that passes; leave it out for never",
        ),
        ({"gpus.devices": "[4]"}, "gpus.devices names GPU 4, but host box has 1"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(SimError) as error:
        question(closed()).scenario(settings)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_memory_that_would_change_nothing_is_refused() -> None:
    with pytest.raises(SimError, match=r"host box has a budget of its own; vary machine\.budget"):
        question(closed(), [HOST | {"budget": "1GiB"}]).scenario({"machine.memory": "9GiB"})
    both = {"machine.memory": "9GiB", "memory.total_budget": "1GiB"}
    assert question(closed()).scenario(both).hosts[0].limits.budget_bytes == 2**30


def test_a_machine_without_hosts_has_none_to_change() -> None:
    with pytest.raises(SimError, match=r"profile test has no \[\[hosts\]\]"):
        question(closed(), []).scenario({"machine.gpus": "2"})


def test_what_never_fits_is_told_before_anything_is_played() -> None:
    asked = question(closed())
    assert refusal(asked.scenario()) is None
    why = refusal(asked.scenario({"memory.total_budget": "100KiB"}))
    assert why is not None
    assert "a budget of 120 KiB would do" in why


def test_a_load_is_a_factor() -> None:
    with pytest.raises(SimError, match=r"workload.load=50%: expected a factor such as 1\.5"):
        question(opened(60.0, every=6.0)).scenario({"workload.load": "50%"})


@pytest.mark.parametrize(
    ("key", "value", "lacks"),
    [
        ("device_repair", "1h", "device_loss"),
        ("restart", "5m", "process_death or device_loss"),
        ("slow_disk_for", "5m", "slow_disk"),
        ("slow_disk_factor", "3.0", "slow_disk"),
        ("retries", "3", "stage_failures"),
    ],
)
def test_how_a_fault_goes_on_is_refused_without_the_fault(key: str, value: str, lacks: str) -> None:
    settings = {f"faults.{key}": value}
    with pytest.raises(SimError, match=f"--set faults.{key}: {key} changes nothing without {lacks}; give"):
        question(closed()).scenario(settings)
    fault = f"faults.{lacks.partition(' ')[0]}"
    for mean in ("1%", "0%") if key == "retries" else ("1d",):  # no failures are a value where it is varied
        question(closed()).scenario(settings | {fault: mean})
    in_file = closed() | {"faults": {lacks.partition(" ")[0]: 0.5 if key == "retries" else 86_400.0}}
    assert question(in_file).scenario(settings).faults.model_fields_set >= {key}
    with pytest.raises(ValueError, match="changes nothing without"):
        WorkloadTable.model_validate(closed() | {"faults": {key: value}}, context=IN_A_FILE)
