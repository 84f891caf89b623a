"""A setting of the machine changes what is simulated, or is refused with what to give instead."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from config import Config
from sim import load_profile
from sim.errors import NoEffectError
from sim.question import Question
from sim.scenario import Scenario, play, refusal
from sim.workload_file import WorkloadTable
from tests.sim.question import CIRCUITS, HOST, KIB, closed, question

CORES = {"count": 8, "synthesis_cores": 4.0}
PUBLISHED = ("zen4-96-core-rtx5070ti-755gib", "xeon-16-core-h200-126gib")


def published(machine: str, count: int = 2) -> Question:
    batch = {"circuit": "porep-32g", "count": count, "concurrency": count}
    table = WorkloadTable.model_validate({"kind": "closed", "batches": [batch]})
    return Question(table, Path(), load_profile(machine), Config())


def makespan_s(scenario: Scenario) -> float:
    return play(scenario, seed=0).answers.figures["makespan_s"]


@pytest.mark.parametrize("machine", PUBLISHED)
def test_fewer_cores_take_longer_on_the_bundled_machines(machine: str) -> None:
    asked = published(machine)
    spans = [makespan_s(asked.scenario({"machine.cores": f"{cores}"})) for cores in (1, 8, 24, 96)]
    assert spans == sorted(spans, reverse=True)
    assert spans[0] > 5 * spans[1] > 5 * spans[2]


def test_fewer_cores_take_longer_where_they_prove() -> None:
    cores = {"count": 4, "synthesis_threads": 2, "proving_cores": 4.0}
    asked = question(closed(), [HOST | {"gpus": 0, "cores": 4}], cores=cores, spread=0.0)
    spans = [makespan_s(asked.scenario({"machine.cores": f"{count}"})) for count in (1, 2, 3, 4, 8, 16)]
    assert all(slow > fast for slow, fast in itertools.pairwise(spans)), spans


def test_one_core_takes_the_core_seconds_of_synthesis() -> None:
    """20 partitions of 29 s, each of which keeps 4 cores busy."""
    asked = published(PUBLISHED[0])
    assert makespan_s(asked.scenario({"machine.cores": "1"})) == pytest.approx(20 * 29 * 4, rel=0.05)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("machine.memory_bandwidth", ("50GB/s", "230GB/s", "460GB/s", "920GB/s")),
        ("machine.core_speed", ("0.5", "1.0", "2.0")),
        ("machine.gpu_speed", ("0.1", "1.0", "4.0")),
        ("machine.synthesis_slots", ("1", "4", "10")),
        ("machine.disk_bandwidth", ("500MB/s", "1.5GB/s", "7GB/s")),
    ],
)
def test_more_of_a_part_is_faster(key: str, values: tuple[str, ...]) -> None:
    asked = published(PUBLISHED[0])
    spans = [makespan_s(asked.scenario({key: value})) for value in values]
    assert all(slow > fast for slow, fast in itertools.pairwise(spans)), spans


@pytest.mark.parametrize(("cores", "bound"), [("24", "cores"), ("192", "synthesis slots")])
def test_what_binds_is_cores_only_where_all_are_busy(cores: str, bound: str) -> None:
    figures = play(published(PUBLISHED[0]).scenario({"machine.cores": cores}), seed=0).answers.figures
    assert figures[f"binding_share[{bound}]"] > 0.1
    other = "cores" if bound == "synthesis slots" else "synthesis slots"
    assert figures[f"binding_share[{other}]"] == 0


@pytest.mark.parametrize("machine", PUBLISHED)
def test_a_machine_whose_gpu_is_taken_away_has_no_times(machine: str) -> None:
    why = refusal(published(machine).scenario({"machine.gpus": "0"}))
    assert why is not None
    assert "circuit porep-32g" in why
    assert "stage prove" in why
    assert "cuzk sim calibrate" in why


def test_processors_prove_by_times_of_their_own() -> None:
    known = question(closed(count=4, concurrency=1), prove_on_cpu={"seconds": 40.0}, spread=0.0)
    on_gpu, on_cpu = (makespan_s(known.scenario({"machine.gpus": gpus})) for gpus in ("1", "0"))
    assert on_cpu - on_gpu == pytest.approx(4 * (40.0 - 4.0))


@pytest.mark.parametrize(
    ("settings", "changes", "why"),
    [
        ({"machine.cores": "4"}, {}, r"profile test does not say how many cores .*\[cores\]"),
        ({"machine.memory_bandwidth": "2GB/s"}, {}, "no synthesis_slowdown"),
        ({"machine.synthesis_slots": "3", "pipeline.synthesis_concurrency": "2"}, {}, "vary pipeline"),
        ({"machine.synthesis_slots": "3", "pipeline.enabled": "false"}, {}, "vary pipeline"),
        ({"machine.gpus": "2", "gpus.devices": "[0]"}, {}, r"gpus\.devices is \[0\]"),
        ({"machine.workers": "2", "gpus.gpu_workers_per_device": "3"}, {}, "leave one out"),
        ({"machine.gpu_speed": "2"}, {"hosts": [HOST | {"gpus": 0}]}, "no GPU proves"),
        ({"machine.gpu_memory": "20GiB"}, {}, "what it holds on a GPU"),
        ({"gpus.device_memory": "20GiB"}, {}, "what it holds on a GPU"),
        ({"machine.pcie_bandwidth": "1GB/s"}, {}, "give device_srs"),
        ({"machine.budget": "200KiB", "memory.total_budget": "300KiB"}, {}, "vary that instead"),
        ({"machine.memory": "9GiB"}, {"hosts": [HOST | {"budget": "300KiB"}]}, "host box has a budget"),
    ],
)
def test_what_changes_nothing_is_refused(settings: dict[str, str], changes: dict[str, Any], why: str) -> None:
    asked = question(closed(), changes.get("hosts"))
    with pytest.raises(NoEffectError, match=why) as error:
        asked.scenario(settings)
    assert error.value.key == next(iter(settings))
    assert "it changes nothing here" in str(error.value)


def test_what_is_as_the_profile_has_it_is_no_change() -> None:
    asked = question(closed())
    assert asked.scenario({"machine.cores": "8", "machine.memory_bandwidth": "1GB/s"}).hosts


def test_what_a_circuit_holds_on_a_gpu_makes_its_memory_matter() -> None:
    on_device = {"small": CIRCUITS["small"] | {"device_memory": 10 * KIB, "device_srs": KIB}}
    asked = question(closed() | {"circuits": on_device}, cores=CORES)
    changes = {"machine.gpu_memory": "20GiB", "machine.pcie_bandwidth": "1GB/s", "machine.cores": "2"}
    assert asked.scenario(changes).hosts[0].profile.cores is not None
