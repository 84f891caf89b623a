"""Sweeps and comparisons: the right one is found where it can be worked out by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from config import load_config
from sim import Answers, Progress, SimError
from sim.compare import differences, fixed_against_budget
from sim.pool import Case, Pool, pool
from sim.summary import Summary, summary_of
from sim.sweep import best_first, gain, keeps_up, pareto_front, surely_more
from sim.winning_config import config_text, format_exactly
from tests.sim.question import KIB, closed, opened, question

ROOT = Path(__file__).parent.parent.parent


def test_many_processes_answer_as_one_does() -> None:
    scenario = question(closed()).scenario()
    cases = [Case(scenario, seed) for seed in range(4)]
    done = list[int]()
    with pool(1, Progress()) as here:
        alone = here.play(cases)
    with pool(4, Progress(), lambda: done.append(1), workers=2) as many:
        assert many.play(cases) == alone
    assert len(done) == 4


def test_what_fails_in_a_process_is_raised_here() -> None:
    scenario = question(closed()).scenario({"memory.total_budget": "100KiB"})
    with (
        pytest.raises(SimError, match="never fits"),
        pool(2, Progress(), workers=2) as many,
    ):
        many.play([Case(scenario, 0), Case(scenario, 1)])


@pytest.mark.parametrize("faults", [{}, {"faults.stage_failures": "5%", "faults.process_death": "10m"}])
def test_the_output_is_the_same_bytes_in_any_process(faults: dict[str, str]) -> None:
    code = (
        "import json; from sim.scenario import play; from tests.sim.question import *;"
        f"asked = question(opened(9000.0, poisson=0.02, deadline=60.0)); faults = {faults!r};"
        "print(json.dumps([play(asked.scenario({**faults, 'machine.hosts': '2'}), seed).answers.figures"
        " for seed in range(2)]))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }  # fmt: skip
    assert len(printed) == 1


def test_intervals_hold_over_the_seeds(summaries: Callable[..., list[Summary]]) -> None:
    (summary,) = summaries(question(closed()), {})
    rate = summary.figures["proofs_an_hour"]
    values = [each.figures["proofs_an_hour"] for each in summary.by_seed]
    assert rate.count == 3
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low < min(values) < rate.mean < max(values) < rate.high
    assert (summary.verdict, summary.loop) == ("completes", "closed")


def test_an_overloaded_machine_tells_no_latency(summaries: Callable[..., list[Summary]]) -> None:
    asked = question(opened(4000.0, poisson=0.1))
    calm, over = summaries(asked, {}, {"workload.load": "5"})
    assert (calm.verdict, over.verdict) == ("stable", "overloaded")
    assert "latency_p99_s[small]" in calm.figures
    assert not [name for name in over.figures if name.startswith("latency")]
    assert keeps_up(calm)
    assert not keeps_up(over)


def test_the_worst_is_said_first(summaries: Callable[..., list[Summary]]) -> None:
    failing = {"faults.stage_failures": "50%", "faults.retries": "0"}
    found = summaries(
        question(closed()), {}, {"policy": "fixed:8"}, failing, {"policy": "fixed:8", **failing}
    )
    assert [each.verdict for each in found] == [
        "completes", "would run out of memory", "fails", "would run out of memory"
    ]  # fmt: skip
    assert found[0].headline == "completes (3 of 3 seeds)"
    lost = found[2].mean("proofs_failed") / 20
    assert found[2].told == found[2].values()["verdict"] == f"fails: {100 * lost:.3g} % of proofs"
    over = summaries(question(opened(4000.0, poisson=0.1)), {"workload.load": "5", "policy": "fixed:8"})[0]
    assert over.verdict == "would run out of memory"
    assert not [name for name in over.figures if name.startswith("latency")]  # it is overloaded too


def test_a_headline_counts_the_seeds_and_tells_of_missed_deadlines() -> None:
    calm = {"proofs_failed": 0.0, "deadlines_missed[x]": 0.0}
    by_seed = [Answers("open", seed, "stable", False, calm) for seed in range(4)]
    scenario = question(closed()).scenario()
    assert summary_of(scenario, by_seed).headline == "stable (4 of 4 seeds)"
    by_seed.append(Answers("open", 4, "overloaded", False, calm | {"deadlines_missed[x]": 1.0}))
    found = summary_of(scenario, by_seed)
    assert found.headline == "stable (4 of 5 seeds, 1 overloaded), with deadlines missed"
    assert found.values()["verdicts"] == {"stable": 4, "overloaded": 1}


def test_proofs_that_never_end_have_missed_their_deadlines(here: Pool) -> None:
    """Of 400 that arrive in 4,000 s a device does one in 4 s, until 4,000 s and a day more have passed."""
    slow = {"prove": {"seconds": 4_000.0}}
    scenario = question(opened(4_000.0, every=10.0, deadline=60.0), **slow).scenario()
    (answers,) = here.play([Case(scenario, 0)])
    figures = answers.figures
    assert answers.load == "overloaded"
    assert figures["proofs_unfinished"] > 300
    assert figures["deadlines_due[small]"] == 400
    assert figures["deadlines_missed_share[small]"] == 1.0
    patient = question(opened(4_000.0, every=10.0, deadline=1e6), **slow).scenario()
    (answers,) = here.play([Case(patient, 0)])
    assert answers.figures["deadlines_due[small]"] == answers.figures["proofs"]  # of others nobody knows yet
    assert answers.figures["deadlines_missed_share[small]"] == 0.0


def test_the_front_holds_what_is_worth_its_cost(summaries: Callable[..., list[Summary]]) -> None:
    settings = [
        {"machine.gpus": gpus, "memory.total_budget": budget, "machine.memory": memory}
        for gpus in ("1", "2")
        for budget, memory in (("120KiB", "6GiB"), ("160KiB", "8GiB"), ("2000KiB", "20GiB"))
    ]
    found = summaries(question(closed()), *settings)
    front = pareto_front(found)
    assert front[0] is min(found, key=lambda each: each.cost or 0)
    costs, rates = [each.cost for each in front], [each.mean("proofs_an_hour") for each in front]
    assert costs == sorted(costs)
    assert rates == sorted(rates)
    for cheaper, dearer in pairwise(front):
        assert surely_more(cheaper, dearer)
    for each in found:
        matched = any(
            one.cost <= each.cost and not surely_more(one, each)
            for one in front
            if one.cost is not None and each.cost is not None
        )
        assert matched or any(each is one for one in front)


def test_what_errors_do_not_tell_apart_is_told_so() -> None:
    """Half of the seeds say that the dearer one is better, the others that it is worse."""

    def summary(cost: float, rates: Sequence[float]) -> Summary:
        answers = [
            Answers("closed", seed, None, False, {"proofs_failed": 0.0, "proofs_an_hour": rate})
            for seed, rate in enumerate(rates)
        ]
        return replace(summary_of(question(closed()).scenario(), answers), cost=cost)

    cheap, like_it = summary(100, [50, 60, 50, 60]), summary(200, [60, 55, 45, 70])
    better = summary(300, [60, 72, 61, 72])
    assert gain(cheap, like_it).mean > 0.01
    assert not surely_more(cheap, like_it)
    assert surely_more(cheap, better)
    assert gain(cheap, better).mean == pytest.approx(0.205, abs=0.001)
    assert pareto_front([like_it, cheap]) == best_first([like_it, cheap])[:1] == [cheap]
    assert best_first([like_it, cheap]) == [cheap, like_it]
    assert pareto_front([better, like_it, cheap]) == [cheap, better]
    assert best_first([better, like_it, cheap]) == [like_it, better]
    hardly = summary(150, [50.2, 60.2, 50.2, 60.3])
    assert not surely_more(cheap, hardly)  # beyond the error, and nothing that one would pay for


def test_the_winner_is_the_cheapest_of_the_best(summaries: Callable[..., list[Summary]]) -> None:
    """More memory than ten partitions take helps nothing, as no more are there at once."""
    sizes = (("120KiB", "6GiB"), ("300KiB", "8GiB"), ("3000KiB", "20GiB"))
    settings = [{"machine.budget": budget, "machine.memory": memory} for budget, memory in sizes]
    found = summaries(question(closed()), *settings)
    assert best_first(found)[0] is found[1]
    assert best_first(found)[1:] == [found[2]]  # it gives as much, for more


def test_what_takes_more_memory_than_there_is_wins_nothing(summaries: Callable[..., list[Summary]]) -> None:
    found = summaries(question(closed()), {"policy": "budget"}, {"policy": "fixed:8"})
    assert found[1].over_budget
    assert best_first(found) == [found[0]]
    assert best_first(found[1:]) == []


def test_the_budget_is_compared_with_every_usual_number_and_with_what_fits() -> None:
    cases = fixed_against_budget(question(closed()))
    # 200 KiB less 100 KiB of entries leave room for 5 working sets of 20 KiB.
    policies = ["budget", "fixed:1", "fixed:2", "fixed:5", "fixed:10"]
    assert [case["policy"] for case in cases] == policies
    roomy = fixed_against_budget(question(closed()), {"machine.budget": "260KiB"})
    assert [case["policy"] for case in roomy] == ["budget", *(f"fixed:{n}" for n in (1, 2, 5, 8, 10))]


def test_differences_are_taken_seed_by_seed(summaries: Callable[..., list[Summary]]) -> None:
    asked = question(closed())
    first, same, quick = summaries(asked, {}, {}, {"machine.gpu_speed": "2.0"})
    assert all(each.more.mean == 0 and not each.sure for each in differences(first, same))
    found = {each.name: each for each in differences(first, quick)}
    rate = found["proofs_an_hour"]
    assert rate.sure
    assert rate.more.mean == pytest.approx(rate.other.mean - rate.first.mean)


def test_a_price_can_be_set() -> None:
    asked = question(closed())
    before, after = asked.scenario().cost, asked.scenario({"prices.gpu": "75", "machine.gpus": "2"}).cost
    assert before is not None
    assert after == pytest.approx(before - 50 + 2 * 75)


def test_a_gpu_whose_driver_takes_all_its_memory_is_refused() -> None:
    with pytest.raises(SimError, match="host box: gpu_memory is 1GiB, of which its driver"):
        question(closed()).scenario({"machine.gpu_memory": "1GiB"})


def test_the_winning_settings_can_be_loaded(tmp_path: Path) -> None:
    asked = question(closed())
    path = tmp_path / "cuzk.toml"
    settings = {"pipeline.synthesis_concurrency": "3", "scheduler.sort_by_type": "false", "machine.gpus": "2"}
    path.write_text(config_text(asked, settings))
    config = load_config(path)
    assert config.memory.total_budget == 200 * KIB
    assert config.pipeline.synthesis_concurrency == 3
    assert config.scheduler.sort_by_type is False
    assert "# simulated with machine.gpus = 2" in path.read_text()


def test_sizes_are_written_exactly() -> None:
    assert format_exactly(200 * KIB) == "200KiB"
    assert format_exactly(2**40 + 1) == f"{2**40 + 1}B"
    assert format_exactly(1500 * KIB) == f"{1500 * KIB}B"
