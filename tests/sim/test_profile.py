"""Profiles: what is read, what is refused, and the times that come of them."""

from pathlib import Path
from statistics import fmean, stdev

import pytest

from policy import Circuit, Entry, Job
from sim import MachineProfile, SimError, load_profile
from sim.durations import Durations
from sim.profile import DEFAULT_PROFILE
from tests.sim.model import CIRCUIT, profile


def test_the_bundled_profile_knows_every_stage() -> None:
    found = load_profile()
    assert found.name == "default"
    durations = Durations(found, {"circuit": 1 << 14}, seed=0)
    assert all(seconds > 0 for (seconds,) in durations.draw(Job("job", CIRCUIT))[:3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("[load]\nbytes_per_s = 0", "load.bytes_per_s: found 0, expected more than 0"),
        ("[load]\nbytes_per_s = nan", "load.bytes_per_s"),
        ("loads_at_once = 0\n[load]\nbytes_per_s = 1", "loads_at_once"),
        ("spead = 0.1\n[load]\nbytes_per_s = 1", "unknown key 'spead'; did you mean 'spread'"),
        ("host_before_share = 0.6\nhost_after_share = 0.6\n[load]\nbytes_per_s = 1", "more than 1 together"),
        (
            "[load]\nbytes_per_s = 1\n[circuits.c]\nsynthesize_s = []\nprove_s = [1]\nverify_s = [1]",
            "synthesize_s",
        ),
        ("", "load is missing"),
        ("[load", "not TOML"),
    ],
)
def test_a_bad_profile_is_refused_by_its_line(tmp_path: Path, change: str, message: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(
        f'name = "m"\n{change}\n[synthesize]\nseconds = 1\n[prove]\nseconds = 1\n[verify]\nseconds = 1\n'
    )
    with pytest.raises(SimError) as error:
        load_profile(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)
    assert str(error.value).endswith(
        f"; write it as in {DEFAULT_PROFILE}, or learn it by `cuzk sim calibrate`"
    )
    assert "\n" not in str(error.value).strip()


def test_a_missing_profile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SimError, match="cannot be read: No such file"):
        load_profile(tmp_path / "none.toml")


def test_a_profile_survives_its_dump() -> None:
    found = load_profile()
    assert MachineProfile.model_validate(found.model_dump(mode="json")) == found


def test_modelled_times_have_the_mean_and_the_spread_they_should() -> None:
    durations = Durations(
        profile(spread=0.2, prove={"seconds": 1, "seconds_per_constraint": 0.5}), {"circuit": 6}, seed=1
    )
    times = durations.draw(Job("job", CIRCUIT, 5000)).prove_s
    assert fmean(times) == pytest.approx(4.0, rel=0.02)
    assert stdev(times) == pytest.approx(0.8, rel=0.1)


def test_observed_times_come_before_modelled_ones() -> None:
    observed = {"synthesize_s": [7, 8], "prove_s": [9], "verify_s": [1], "load_s": [50]}
    durations = Durations(profile(circuits={"circuit": observed}), {}, seed=1)
    drawn = set(durations.draw(Job("job", CIRCUIT, 50)).synthesize_s)
    assert drawn == {7, 8}
    assert sum(durations.load_time(CIRCUIT.entries[0], CIRCUIT, 1)) == pytest.approx(40)
    assert sum(durations.load_time(Entry("x", 300), Circuit("other", (), 1, 1), 1)) == pytest.approx(3)


def test_what_was_loaded_before_is_mapped() -> None:
    mapped = profile(load={"seconds": 0.5, "bytes_per_s": 100.0, "mapped_bytes_per_s": 1000.0})
    durations = Durations(mapped, {"circuit": 1}, seed=0)
    entry = CIRCUIT.entries[0]
    assert durations.load_time(entry, CIRCUIT, 1) == pytest.approx((0.8, 0.5))
    durations.page_cache.was_read(entry.key, entry.size_bytes)
    assert durations.load_time(entry, CIRCUIT, 2) == pytest.approx((0.0, 0.5 + 0.08))
    assert durations.load_time(CIRCUIT.entries[1], CIRCUIT, 3) == pytest.approx((0.2, 0.5))


@pytest.mark.parametrize("stage", ["synthesize", "prove", "verify"])
@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("", "found no duration, expected seconds, seconds_per_constraint, or both"),
        ("seconds = 0.0\n", "found seconds = 0 and no seconds_per_constraint, which is no duration"),
        ("seconds_per_constraint = 0\n", "found seconds_per_constraint = 0 and no seconds, which is no"),
        ("seconds = 0\nseconds_per_constraint = 0\n", "found seconds = 0 and seconds_per_constraint = 0, "),
    ],
)
def test_a_stage_without_a_duration_is_not_taken_for_one_that_takes_no_time(
    tmp_path: Path, stage: str, found: str, message: str
) -> None:
    path = tmp_path / "lacking.toml"
    stages = dict.fromkeys(("synthesize", "prove", "verify"), "seconds = 1\n") | {stage: found}
    tables = "".join(f"[{name}]\n{text}" for name, text in stages.items())
    path.write_text(f'name = "lacking"\n[load]\nbytes_per_s = 1.0\n{tables}')
    with pytest.raises(SimError) as error:
        load_profile(path)
    assert f"{stage}: {message}" in str(error.value)
    assert "cuzk sim calibrate" in str(error.value)


def test_observed_times_of_nought_are_no_durations(tmp_path: Path) -> None:
    path = tmp_path / "lacking.toml"
    tables = "".join(f"[{name}]\nseconds = 1\n" for name in ("synthesize", "prove", "verify"))
    circuit = "[circuits.c]\nsynthesize_s = [0.0, 0.0]\nprove_s = [1.0]\nverify_s = [0.0, 0.1]\n"
    path.write_text(f'name = "lacking"\n[load]\nbytes_per_s = 1.0\n{tables}{circuit}')
    with pytest.raises(SimError, match=r"circuits\.c\.synthesize_s: found times of 0 alone"):
        load_profile(path)


def test_times_of_one_device_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "twice.toml"
    tables = "".join(f"[{name}]\nseconds = 1\n" for name in ("synthesize", "prove", "prove_on_cpu", "verify"))
    path.write_text(f'name = "m"\n[measured_on]\ndevice = "cpu"\n[load]\nbytes_per_s = 1.0\n{tables}')
    with pytest.raises(SimError, match="prove and prove_on_cpu are both of a cpu"):
        load_profile(path)
