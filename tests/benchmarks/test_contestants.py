"""Contestants over their pipe, with small ones made here, and the order in which they run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.alternate import Effort, alternate
from benchmarks.contestants import registry
from benchmarks.contestants.process import Contestant, ContestantError, Entry
from benchmarks.results import Measurement

PROGRAM = """
import sys
from pathlib import Path
from benchmarks.contestants.serve import Job, serve
name, log, answer = sys.argv[1:4]
most = int(sys.argv[4])
def work(n):
    def run():
        if log and Path(log).exists() and len(Path(log).read_text()) >= most:
            raise ValueError("it is enough")
        print("a library's own words, more than a pipe holds" * 5000)
        with open(log, "a") as file:
            file.write(name)
        return n
    return Job(run, lambda result: answer or str(result))
def fail():
    raise ValueError("no such thing")
serve("1.0", {"work": work, "fail": fail})
"""
CORE = sorted(os.sched_getaffinity(0))[:1]


def contestant(name: str, log: Path, answer: str = "", compiles: bool = False, most: int = 99) -> Contestant:
    """It writes its name into the log at each run, and fails once that has `most` names."""
    command = [sys.executable, "-c", PROGRAM, name, str(log), answer, str(most)]
    return Contestant(Entry(name, command, curves=["bn254"], compiles=compiles), CORE)


def test_a_contestant_answers_tasks_and_errors(tmp_path: Path) -> None:
    with contestant("a", tmp_path / "log") as one:
        assert (one.version, one.tasks) == ("1.0", {"work", "fail"})
        timing = one.measure("work", n=7)
        assert timing.answer == "7"
        assert timing.wall_s >= 0
        with pytest.raises(ContestantError, match="a: ValueError: no such thing"):
            one.measure("fail")
        assert one.measure("work", n=8).answer == "8"
        assert one.can("work", "bn254")
        assert not one.can("work", "bls12381")


def test_contestants_take_turns_after_a_warm_up(tmp_path: Path) -> None:
    log, said = tmp_path / "log", list[str]()
    measurement = Measurement("work", "bn254", 7, 1)
    with contestant("a", log) as a, contestant("b", log) as b:
        alternate(measurement, [a, b], "work", {"n": 7}, Effort(3, 60), said.append)
    assert log.read_text() == "ab" * 4
    assert {name: len(runs.wall_s) for name, runs in measurement.runs.items()} == {"a": 3, "b": 3}
    assert said[0] == "work bn254 7 by a, b …"
    assert said[1].startswith("work bn254 7: a ")


def test_a_long_run_is_no_warm_up_but_the_only_one(tmp_path: Path) -> None:
    measurement = Measurement("work", "bn254", 7, 1)
    with contestant("a", tmp_path / "log") as a:
        alternate(measurement, [a], "work", {"n": 7}, Effort(3, 0), lambda _: None)
    assert len(measurement.runs["a"].wall_s) == 1
    assert (tmp_path / "log").read_text() == "a"


def test_a_long_run_that_may_have_compiled_is_a_warm_up_all_the_same(tmp_path: Path) -> None:
    measurement = Measurement("work", "bn254", 7, 1)
    with contestant("a", tmp_path / "log", compiles=True) as a:
        alternate(measurement, [a], "work", {"n": 7}, Effort(3, 0), lambda _: None)
    assert len(measurement.runs["a"].wall_s) == 1
    assert (tmp_path / "log").read_text() == "aa"


def test_a_failure_is_noted_and_leaves_no_runs(tmp_path: Path) -> None:
    measurement = Measurement("fail", "bn254", 7, 1)
    with contestant("a", tmp_path / "log") as a:
        alternate(measurement, [a], "fail", {}, Effort(3, 60), lambda _: None)
    assert measurement.runs == {}
    assert measurement.failed == {"a": "a: ValueError: no such thing"}


def test_who_fails_later_keeps_its_runs_and_stops_nobody(tmp_path: Path) -> None:
    measurement = Measurement("work", "bn254", 7, 1)
    with contestant("a", tmp_path / "a", most=2) as a, contestant("b", tmp_path / "b") as b:
        alternate(measurement, [a, b], "work", {"n": 7}, Effort(3, 60), lambda _: None)
    assert {name: len(runs.wall_s) for name, runs in measurement.runs.items()} == {"a": 1, "b": 3}
    assert measurement.failed == {"a": "a: ValueError: it is enough"}


def test_different_answers_end_the_run(tmp_path: Path) -> None:
    measurement = Measurement("work", "bn254", 7, 1)
    with (
        contestant("a", tmp_path / "log") as a,
        contestant("b", tmp_path / "log", "8") as b,
        pytest.raises(ContestantError, match="different answers to work"),
    ):
        alternate(measurement, [a, b], "work", {"n": 7}, Effort(3, 60), lambda _: None)


def test_one_that_is_not_installed_is_missing_with_how_to_get_it() -> None:
    entry = Entry("nobody", ("no-such-program",), "get it")
    with pytest.raises(ContestantError, match="no-such-program is not installed: get it"):
        registry.start(entry, CORE)


def test_one_that_cannot_import_its_library_says_so() -> None:
    with pytest.raises(ContestantError, match="no_such_library"):
        Contestant(Entry("x", [sys.executable, "-c", "import no_such_library"]), CORE)


def test_we_and_snarkjs_agree_on_a_pairing_and_a_transform(tmp_path: Path) -> None:
    values = b"".join(i.to_bytes(32, "little") for i in range(64))
    (tmp_path / "values").write_bytes(values)
    missing: dict[str, str] = {}
    with registry.team([registry.OURS, "snarkjs"], CORE, missing) as both:
        assert missing == {}
        for task, arguments in (
            ("pairing", {"pairs": 4}),
            ("ntt", {"values": str(tmp_path / "values"), "check": True}),
        ):
            answers = [each.measure(task, curve="bn254", **arguments).answer for each in both]
            assert answers[0] == answers[1] != ""
