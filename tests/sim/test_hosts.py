"""A machine described in TOML: what its hosts may hand out, how their times scale, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config import Config
from policy import Circuit, Device, Entry, Job
from sim import SimError, bundled_circuits, bundled_profiles, load_profile, modelled_hosts
from sim.assumed import assumed
from sim.contention import Cores
from sim.durations import Durations
from sim.errors import UnplayableError
from sim.hardware import Host, MeasuredOn, Prices
from sim.hosts import on_host
from tests.sim.model import CIRCUIT, profile
from tests.sim.question import HOST as BOX
from tests.sim.question import closed, question

GIB = 2**30
HOST = {"cores": 8, "memory": "64GiB", "disk_bandwidth": "1GB/s", "memory_bandwidth": "100GB/s"}
TIMES = """
[load]
bytes_per_s = 100
[synthesize]
seconds = 1
[prove]
seconds = 2
[verify]
seconds = 0.1
"""


def host(**changes: Any) -> Host:
    return Host.model_validate(HOST | changes)


def test_every_bundled_profile_can_be_read() -> None:
    assert {"default", "zen4-96-core-rtx5070ti-755gib"} <= bundled_profiles().keys()
    for name in bundled_profiles():
        assert load_profile(name).name == name


@pytest.mark.parametrize("name", sorted(bundled_profiles()))
def test_every_bundled_profile_says_what_answers_need(name: str) -> None:
    """Of the H200 alone memory was not measured, and every answer tells so."""
    found = load_profile(name)
    shapes = [each.shape for each in bundled_circuits().values()]
    lines = assumed(found, found.hosts, shapes, Config())
    assert [line for line in lines if "[memory]" not in line] == []
    assert len(lines) == (name == "xeon-16-core-h200-126gib")
    assert found.device is not None


def test_what_a_profile_does_not_say_is_told() -> None:
    machine = profile(hosts=[HOST | {"gpus": 1}])
    on_gpu = Circuit("c", (), 1, 1, device_bytes=10)
    text = " ".join(assumed(machine, machine.hosts, [on_gpu], Config()))
    for key in ("memory", "synthesis_slowdown", "spread", "cores", "host_after_share", "gpu_memory"):
        assert key in text
    assert "[cores]" not in " ".join(
        assumed(profile(), (), [on_gpu], Config())
    )  # this machine's are as they are


PARTS = {
    "synthesis_slots": (3, "8 partitions synthesize at once on host host, one a core"),
    "disks": (1, "host host has 1 disk"),
    "disk_bandwidth": ("1GB/s", "as fast as those measured"),
    "memory_bandwidth": ("1GB/s", "as fast as that measured"),
    "workers": (2, "proves 2 partitions at once"),
    "pcie_bandwidth": ("1GB/s", "takes no time"),
    "gpu_memory": ("9GiB", "never lack memory"),
}


@pytest.mark.parametrize("key", PARTS)
def test_so_is_each_part_that_a_host_lacks(key: str) -> None:
    parts = {"cores": 8, "memory": "9GiB", "gpus": 1} | {name: value for name, (value, _) in PARTS.items()}
    on_gpu = Circuit("c", (), 1, 1, device_bytes=10, device_entry=Entry("srs", 10))

    def lines(host: dict[str, Any]) -> list[str]:
        machine = profile(hosts=[host], synthesis_slowdown=0.1)
        return [line for line in assumed(machine, machine.hosts, [on_gpu], Config()) if "host host" in line]

    assert lines(parts) == []
    (line,) = lines({name: value for name, value in parts.items() if name != key})
    assert PARTS[key][1] in line
    assert line.endswith(f"(no {key})")


def test_what_the_settings_say_is_not_assumed() -> None:
    lacking = {name: value for name, value in BOX.items() if name != "synthesis_slots"}
    asked = question(closed(), [lacking])
    assert "no synthesis_slots" in " ".join(asked.assumed())
    for key in ("machine.synthesis_slots", "pipeline.synthesis_concurrency"):
        assert "no synthesis_slots" not in " ".join(asked.assumed({key: "3"}))


def test_a_profile_with_hosts_survives_its_dump() -> None:
    found = load_profile("zen4-96-core-rtx5070ti-755gib")
    assert type(found).model_validate(found.model_dump(mode="json")) == found


def test_the_published_machine_has_the_published_hardware() -> None:
    found = load_profile("zen4-96-core-rtx5070ti-755gib").hosts[0]
    assert (found.cores, found.memory, found.gpus, found.gpu_memory) == (96, 755 * GIB, 1, 16 * GIB)


def test_bundled_circuits_have_the_published_sizes() -> None:
    porep = bundled_circuits()["porep-32g"]
    assert (porep.partitions, porep.constraints) == (10, 130_278_869)
    assert porep.shape.entries_bytes == 44 * GIB + int(25.7 * GIB)
    assert porep.shape.working_bytes == int(13.6 * GIB)
    assert set(bundled_circuits()) == {"porep-32g", "snap-32g", "wpost-32g", "winning-32g"}


def test_limits_follow_from_the_host_and_the_settings() -> None:
    machine = profile(hosts=[HOST | {"gpus": 2, "gpu_memory": "16GiB", "count": 2, "name": "box"}])
    first, second = modelled_hosts(machine, Config())
    assert (first.name, second.name) == ("box-1", "box-2")
    assert first.limits.budget_bytes == 59 * GIB
    assert first.limits.synthesis_slots == first.limits.synthesis_lookahead == 8
    assert first.limits.devices == (Device("gpu0", 2, 15 * GIB), Device("gpu1", 2, 15 * GIB))


def test_settings_go_before_what_the_host_says() -> None:
    settings = Config.model_validate(
        {
            "memory": {"total_budget": "10GiB"},
            "pipeline": {"synthesis_concurrency": 3},
            "gpus": {"devices": [1], "gpu_workers_per_device": 5, "device_memory": "1GiB"},
        }
    )
    machine = profile(hosts=[HOST | {"gpus": 2, "budget": "20GiB", "synthesis_slots": 2}])
    limits = modelled_hosts(machine, settings)[0].limits
    assert (limits.budget_bytes, limits.synthesis_slots) == (10 * GIB, 3)
    assert limits.devices == (Device("gpu1", 5, GIB),)


def test_times_scale_with_what_they_depend_on() -> None:
    machine = profile(hosts=[HOST], synthesis_slowdown=0.4, host_before_share=0.5)
    fast = on_host(machine, host(disk_bandwidth="4GB/s", memory_bandwidth="200GB/s", core_speed=2.0))
    assert fast.load.bytes_per_s == 400
    assert fast.synthesis_slowdown == pytest.approx(0.2)
    assert fast.synthesize.seconds == pytest.approx(0.5)
    assert fast.prove is not None
    assert fast.prove.seconds == pytest.approx(2.0)  # no GPU: all of it on the cores
    machine = profile(hosts=[HOST | {"gpus": 1}], host_before_share=0.5, cores={"count": 8})
    gpu = on_host(machine, host(gpus=1, gpu_speed=4.0))
    assert gpu.prove is not None
    assert gpu.prove.seconds == pytest.approx(2.0 + 0.5)
    assert gpu.host_before_share == pytest.approx(0.8)
    same = on_host(machine, host(gpus=1))
    assert same == machine.model_copy(update={"measured_on": MeasuredOn(device="gpu")})


def test_times_follow_what_they_were_measured_on_and_not_the_first_host() -> None:
    """Whoever describes his own machine in a profile leaves the times as they are."""
    reference = {"device": "gpu", "memory_bandwidth": "400GB/s", "disks": 1, "disk_bandwidth": "2GB/s"}
    own = HOST | {"gpus": 1, "disks": 3}
    machine = profile(
        measured_on=reference,
        hosts=[own],
        synthesis_slowdown=0.1,
        cores={"count": 96, "synthesis_cores": 9.6},
    )
    found = on_host(machine, host(**own))
    assert found.load.bytes_per_s == pytest.approx(50.0)
    assert found.loads_at_once == 3
    assert found.synthesis_slowdown == pytest.approx(0.4)
    assert found.cores is not None
    assert (found.cores.count, found.cores.synthesis_cores) == (8, 9.6)


def test_proving_on_processors_takes_as_many_core_seconds() -> None:
    machine = profile(hosts=[HOST])
    found = on_host(machine, host(cores=2))
    assert found.prove is not None
    assert found.prove.seconds == pytest.approx(4.0 * 4)
    assert found.cores == Cores(count=2, proving_cores=2.0)


@pytest.mark.parametrize(("measured", "gpus"), [("gpu", 0), ("cpu", 1)])
def test_times_of_one_device_are_not_taken_for_those_of_another(measured: str, gpus: int) -> None:
    machine = profile(measured_on={"device": measured}, hosts=[HOST | {"gpus": gpus}])
    lacking, known = (
        modelled_hosts(machine, Config())[0].profile,
        "GPU" if measured == "gpu" else "processors",
    )
    with pytest.raises(UnplayableError) as error:
        Durations(lacking, {"circuit": 1}, 0).draw(Job("job", CIRCUIT))
    text = str(error.value)
    assert "circuit circuit" in text
    assert "stage prove" in text
    assert known in text
    assert "cuzk sim calibrate" in text
    assert f"[prove_on_{'cpu' if gpus == 0 else 'gpu'}]" in text
    other = {f"prove_on_{'cpu' if gpus == 0 else 'gpu'}": {"seconds": 7.0}}
    both = profile(measured_on={"device": measured}, hosts=[HOST | {"gpus": gpus}], **other)
    found = modelled_hosts(both, Config())[0].profile
    assert found.prove is not None
    assert found.prove.seconds == pytest.approx(7.0)


def test_observed_proofs_of_another_device_are_left_out() -> None:
    times = {"synthesize_s": [2.0], "prove_s": [4.0], "verify_s": [1.0], "device": "cpu"}
    machine = profile(hosts=[HOST | {"gpus": 1}], circuits={"circuit": times}, prove={"seconds": 3.0})
    found = Durations(modelled_hosts(machine, Config())[0].profile, {"circuit": 1}, 0)
    drawn = found.draw(Job("job", CIRCUIT))
    assert (drawn.synthesize_s, drawn.prove_s) == ([2.0], [3.0])


def test_settings_that_take_the_gpus_away_leave_no_time_of_theirs() -> None:
    machine = profile(hosts=[HOST | {"gpus": 1}])
    none = Config.model_validate({"gpus": {"devices": "none"}})
    with pytest.raises(UnplayableError, match="processors prove"):
        Durations(modelled_hosts(machine, none)[0].profile, {"circuit": 1}, 0).draw(Job("job", CIRCUIT))


def test_observed_times_scale_as_modelled_ones_do() -> None:
    times = {"synthesize_s": [2.0], "prove_s": [4.0], "verify_s": [1.0], "load_s": [8.0]}
    machine = profile(hosts=[HOST], circuits={"c": times})
    scaled = on_host(machine, host(core_speed=2.0, disk_bandwidth="2GB/s")).circuits["c"]
    assert (scaled.synthesize_s, scaled.prove_s, scaled.verify_s, scaled.load_s) == ((1,), (2,), (0.5,), (4,))


def test_what_cannot_be_compared_is_refused() -> None:
    machine = profile(hosts=[{"cores": 1, "memory": "8GiB"}])
    with pytest.raises(SimError, match="has a disk_bandwidth, and the profile's first host"):
        on_host(machine, host(memory_bandwidth=None))


def test_a_machine_without_hosts_or_memory_is_refused() -> None:
    with pytest.raises(SimError, match=r"profile test has no \[\[hosts\]\]"):
        modelled_hosts(profile(), Config())
    with pytest.raises(SimError, match=r"no more than memory\.safety_margin"):
        modelled_hosts(profile(hosts=[HOST | {"memory": "1GiB"}]), Config())
    with pytest.raises(SimError, match="same name"):
        modelled_hosts(profile(hosts=[HOST, HOST]), Config())


def test_a_price_is_the_sum_of_its_parts() -> None:
    prices = Prices(host=100, core=2, memory_gib=3, disk=5, gpu=7)
    assert prices.of(host(gpus=2, count=2)) == 2 * (100 + 16 + 192 + 5 + 14)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("memory = 64", "hosts.0.memory: found 64, expected a size with its unit"),
        ('memory = "64"', "hosts.0.memory: found '64', expected a size with its unit"),
        ('memory = "64GiB"\ndisk_bandwidth = "1GB"', "expected bytes a second such as"),
        ('memroy = "64GiB"', "unknown key 'hosts.0.memroy'; did you mean 'memory'"),
        ("", "hosts.0.memory is missing"),
        ('memory = "64GiB"\ngpus = "two"', "hosts.0.gpus: found 'two', expected a whole number"),
        ('memory = "64GiB"\ncount = 0', "hosts.0.count: found 0, expected 1 or more"),
    ],
)
def test_a_bad_host_is_refused_in_one_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f'name = "m"\n[[hosts]]\ncores = 4\n{line}\n{TIMES}')
    with pytest.raises(SimError) as error:
        load_profile(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_misspelt_profile_is_told_the_nearest() -> None:
    with pytest.raises(SimError, match="did you mean 'default'"):
        load_profile("defualt")
