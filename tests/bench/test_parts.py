"""The parts of a run by themselves: outcomes and their sums, what is asked, its folder, its trend."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import examples
from bench.asked import KINDS, PublicOptions, asked
from bench.errors import BenchError
from bench.monitor import GpuUse, PoolUse, ProcessSample
from bench.outcome import Outcome, summary
from bench.record import Record
from bench.report import report_page
from bench.run_folder import RunFolder
from bench.statistics import spread
from bench.trend import growth
from bench.watching import Watching
from bench.works import at_rates, one_after_another
from cli.bench.progress import ProgressLine
from config import Config
from daemon.proto.cuzk.v1 import proving_pb2
from db import device_samples, memory_samples, new_id, open_history, pool_samples, show_run, stage_spans
from groth16.errors import InputError

INPUT = examples.CIRCUITS["multiplier"].inputs
GIB = 1 << 30


def made(number: int, state: str = "succeeded", asked_s: float = 0.0, ended_s: float = 1.0) -> Outcome:
    outcome = Outcome(number, "merkle", asked_s, f"job {number}", accepted_s=asked_s, ended_s=ended_s)
    outcome.state = state  # type: ignore[assignment]  # one of them
    return outcome


def with_stages(number: int = 1) -> Outcome:
    """Two partitions; the second waits for the first's device."""
    outcome = made(number, ended_s=9.0)
    for partition, start_s in ((0, 1.0), (1, 2.0)):
        for stage, at_s, to_s in (("load", 0, 1), ("synthesize", 1, 3), ("prove", 4, 5), ("verify", 5, 6)):
            outcome.begin(partition, stage, start_s + at_s)
            outcome.finish(partition, stage, start_s + to_s)
    outcome.devices = {0: "gpu1"}
    return outcome


def test_waits_lie_between_the_stages() -> None:
    found = [
        (each.stage, each.started_s, each.ended_s)
        for each in with_stages().with_waits()
        if each.partition == 1
    ]
    assert found == [
        ("wait", 0.0, 2.0), ("load", 2.0, 3.0), ("synthesize", 3.0, 5.0), ("queue", 5.0, 6.0),
        ("prove", 6.0, 7.0), ("verify", 7.0, 8.0),
    ]  # fmt: skip


@pytest.mark.parametrize(("at_s", "moved_s"), [(7.0, 0.0), (3.0, 1.0), (0.5, 3.0)])
def test_stages_move_with_the_moment_of_acceptance_and_never_before_the_asking(
    at_s: float, moved_s: float
) -> None:
    outcome = made(1, asked_s=1.0, ended_s=9.0)
    outcome.accepted_s = 4.0
    outcome.begin(0, "load", 5.0)
    outcome.finish(0, "load", 6.0)
    outcome.begin(0, "prove", 7.0)
    outcome.accepted_by(at_s)
    assert outcome.accepted_s == 4.0 - moved_s
    assert [(each.started_s, each.ended_s) for each in outcome.spans] == [
        (5.0 - moved_s, 6.0 - moved_s),
        (7.0 - moved_s, None),
    ]


def test_a_stage_that_ends_without_a_start_counts_for_nothing() -> None:
    outcome = made(1)
    outcome.finish(0, "prove", 3.0)
    assert outcome.spans == []


def test_sums_are_over_those_that_succeeded() -> None:
    outcomes = [made(1), made(2, ended_s=3.0), made(3, "failed", ended_s=5.0), made(4, "cancelled", 1.0, 2.0)]
    found = summary(outcomes, 6)
    assert (found.asked, found.succeeded, found.failed, found.cancelled) == (6, 2, 1, 1)
    assert found.seconds == 5.0
    assert found.rate == pytest.approx(0.4)
    assert found.latency is not None
    assert (found.latency.least_s, found.latency.mean_s, found.latency.most_s) == (1.0, 2.0, 3.0)
    assert summary([], 3).lines() == ["0 of 3 proofs in 0.00 s"]


def test_a_spread_of_nothing_is_none() -> None:
    assert spread([]) is None


@pytest.mark.parametrize(("gain", "found"), [(0.0, 0.0), (0.5, 0.45)])
def test_growth_leaves_out_the_beginning(gain: float, found: float) -> None:
    at_s = [float(second) for second in range(101)]
    values = [5.0 if second < 10 else 100.0 * (1 + gain * (second / 100 - 0.55)) for second in at_s]
    assert growth(at_s, values) == pytest.approx(found, abs=1e-6)
    assert growth(at_s[:5], values[:5]) is None


def test_the_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    with RunFolder("run", print, tmp_path) as first:
        first.say("failed: an old error")
    with pytest.raises(BenchError, match="is another run's"):
        RunFolder("run", print, tmp_path)
    with RunFolder("next", print, tmp_path) as second:
        second.note("begun")
    assert "old error" not in (second.path / "log.txt").read_text()


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BenchError, match="set CUZK_HOME"):
        RunFolder("run", print, tmp_path / "file")


def test_a_plan_has_versions_machine_and_settings_but_no_password(tmp_path: Path) -> None:
    config = Config.model_validate({"history": {"url": "postgresql://me:secret@host/cuzk"}})
    with RunFolder("run", print, tmp_path) as folder:
        folder.write_plan(["cuzk", "bench", "a b"], config, {"count": 3})
    text = (folder.path / "run.json").read_text()
    found = json.loads(text)
    assert "secret" not in text
    assert found["command"] == "cuzk bench 'a b'"
    assert found["versions"]["python"]
    assert found["machine"]["cores"] > 0
    assert found["config"]["memory"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_of_progress_is_replaced_on_a_terminal_and_rare_elsewhere() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        line = ProgressLine(stream)
        line.show("1 of 3")
        line.print("a word")
        line.show("")
    assert terminal.getvalue() == "\r\x1b[2K1 of 3\r\x1b[2Ka word\n1 of 3\r\x1b[2K"
    assert file.getvalue() == "a word\n"


def test_until_a_proof_has_ended_progress_says_what_they_wait_for() -> None:
    jobs = SimpleNamespace(
        now_s=lambda: 2.0, open={"a": None}, waiting="merkle #1: waits until its circuit is ready"
    )
    watching = Watching(None, SimpleNamespace(monitor=None, budget_bytes=None), jobs, 3, print, 30.0)  # type: ignore[arg-type]
    assert (
        watching.line() == "0 of 3 proofs, 0.0 a minute, 1 open; merkle #1: waits until its circuit is ready"
    )
    watching.outcomes.append(made(1))
    assert watching.line() == "1 of 3 proofs, 30.0 a minute, 1 open"


def test_kinds_go_by_the_public_names() -> None:
    assert set(KINDS.values()) == set(proving_pb2.ProofKind.keys()) - {"PROOF_KIND_UNSPECIFIED"}
    ask = asked("PoRep-C2", None, PublicOptions(c1=INPUT, sector_num=7), priority="high")
    assert ask.public is not None
    assert ask.public.proof_kind == proving_pb2.POREP_SEAL_COMMIT
    assert ask.public.priority == proving_pb2.HIGH
    assert (ask.public.sector_number, ask.public.miner_id) == (7, 1000)
    assert ask.public.vanilla_proof == INPUT.read_bytes()


@pytest.mark.parametrize("form", ["text", "list"])
def test_a_vanilla_proof_in_base64_goes_as_its_bytes(tmp_path: Path, form: str) -> None:
    text = base64.b64encode(b"a proof").decode()
    (tmp_path / "vanilla.json").write_text(json.dumps(text if form == "text" else [text]))
    ask = asked("wpost", None, PublicOptions(vanilla=tmp_path / "vanilla.json", randomness="ab" * 32))
    assert ask.public is not None
    assert ask.public.vanilla_proof == b"a proof"
    assert ask.public.randomness == b"\xab" * 32


@pytest.mark.parametrize(
    ("content", "why"),
    [('["YQ==", "YQ=="]', "found 2 vanilla proofs"), ('["?"]', "is not base64"), ("", "is empty")],
)
def test_a_vanilla_proof_that_cannot_be_sent_is_refused(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "vanilla.json").write_text(content)
    with pytest.raises((BenchError, InputError), match=why):
        asked("winning", None, PublicOptions(vanilla=tmp_path / "vanilla.json"))


def test_a_circuit_takes_one_input() -> None:
    with pytest.raises(BenchError, match="are both inputs"):
        asked("merkle", INPUT, PublicOptions(c1=INPUT))
    with pytest.raises(BenchError, match="--partitions"):
        asked("porep", None, PublicOptions(c1=INPUT), partitions=2)


class Run:
    """What `at_rates` is given."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


def test_proofs_that_come_by_themselves_do_so_at_their_rates() -> None:
    fast, slow = (asked(name, None, PublicOptions()) for name in ("merkle", "multiplier"))
    run, proved = Run(), []

    async def prove(ask: Any, number: int) -> Outcome:
        proved.append(ask.circuit)
        return made(number)

    asyncio.run(at_rates([(fast, 2000.0), (slow, 200.0)], 0.5, 10_000, 1)(prove, run))  # type: ignore[arg-type]  # as far as it is used
    assert len(proved) == run.results["arrivals"]
    assert 800 < proved.count("merkle") < 1200
    assert 60 < proved.count("multiplier") < 140
    assert run.results["left_out"] == 0


def test_a_batch_that_stops_begins_nothing_after_a_failure() -> None:
    begun = []

    async def prove(_ask: Any, number: int) -> Outcome:
        begun.append(number)
        return made(number, "failed" if number == 2 else "succeeded")

    ask = asked("merkle", None, PublicOptions())
    asyncio.run(one_after_another([ask], 9, 1, True)(prove, Run()))  # type: ignore[arg-type]  # as far as it is used
    assert begun == [1, 2]


def test_an_error_that_concerns_all_ends_the_others() -> None:
    ended = []

    async def prove(_ask: Any, number: int) -> Outcome:
        if number == 2:
            raise BenchError("the daemon takes none")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)
        return made(number)

    with pytest.raises(BenchError, match="takes none"):
        asyncio.run(one_after_another([asked("merkle", None, PublicOptions())], 3, 3, False)(prove, Run()))  # type: ignore[arg-type]  # as far as it is used
    assert sorted(ended) == [1, 3]


def sample(at_s: float, rss_bytes: int = GIB) -> ProcessSample:
    gpus = (GpuUse("gpu0", None, 2 * GIB, 4 * GIB), GpuUse("gpu1", GIB, 2 * GIB, 4 * GIB))
    return ProcessSample(at_s, rss_bytes, 9, None, 2, 0.5, {"proving": PoolUse(2, 0.5)}, gpus)


def test_a_run_s_rows_are_a_run_of_the_history(tmp_path: Path) -> None:
    run_id = new_id()
    with open_history(tmp_path / "history.db") as history:
        with history.writer() as writer:
            record = Record(writer, run_id)
            record.started("merkle ×2", Config(), 3 * GIB, 2, tmp_path)
            record.sample(sample(0.0), 5)
            record.sample(sample(1.0, 2 * GIB), 7)
            record.proof(with_stages())
            record.proof(made(2, "failed"))
            record.ended("failed", "1 proofs failed")
        detail = show_run(history, run_id)
        assert (detail.run.source, detail.run.state, detail.run.budget_bytes) == ("bench", "failed", 3 * GIB)
        assert (detail.run.peak_rss_bytes, detail.run.peak_reserved_bytes) == (2 * GIB, 7)
        assert [each.proof.state for each in detail.proofs] == ["succeeded", "failed"]
        assert detail.proofs[0].seconds.synthesize_s == 4.0
        spans = stage_spans(history, run_id)
        assert len(spans) == 12
        assert [each.device for each in spans] == ["gpu1"] * 6 + [None] * 6
        assert [each.rss_bytes for each in memory_samples(history, run_id)] == [GIB, 2 * GIB]
        held = {(each.device, each.held_bytes) for each in device_samples(history, run_id)}
        assert held == {("gpu0", 2 * GIB), ("gpu1", GIB)}
        assert [(each.pool, each.threads, each.cores) for each in pool_samples(history, run_id)] == [
            ("proving", 2, 0.5)
        ] * 2


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_report_needs_nothing_beside_it(count: int) -> None:
    page = report_page("a <run>", GIB, [(sample(float(at)), 7) for at in range(count)], [], ["a & b"])
    assert "a &lt;run&gt;" in page
    assert "a &amp; b" in page
    assert page.count("data:image/png;base64,") == (4 if count else 1)
    assert "http" not in page
