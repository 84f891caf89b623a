"""`cuzk sim run`, `sweep`, `compare`, `plan` and `profiles`, for circuits whose keys are not here."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from PIL import Image

from config import load_config
from sim import load_profile
from sim.workload_file import EXAMPLE
from tests.cli.conftest import Cuzk, refused, succeed

ZEN4 = "zen4-96-core-rtx5070ti-755gib"
BATCH = ("-t", "porep-32g", "-c", "4", "-j", "2", "-m", ZEN4, "--seeds", "2")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {**os.environ, "CUZK_HOME": str(tmp_path_factory.mktemp("sim-home"))}


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    """Three hours of a storage provider."""
    path = tmp_path / "schedule.toml"
    path.write_text(
        'kind = "open"\nduration = "3h"\n'
        '[[arrivals]]\ncircuit = "porep-32g"\npoisson = "4/h"\n'
        '[[arrivals]]\ncircuit = "wpost-32g"\ncron = "*/30 * * * *"\ndeadline = "30m"\n'
    )
    return path


def test_a_batch_of_a_circuit_without_a_key_is_simulated(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    written = {name: tmp_path / name for name in ("page.html", "trace.json", "figures.csv")}
    pictures = tmp_path / "pictures"
    shown = succeed(
        cuzk(
            "sim", "run", *BATCH, "--html", written["page.html"], "--trace", written["trace.json"],
            "--csv", written["figures.csv"], "--pictures", pictures, env=environment,
        )
    )  # fmt: skip
    assert "succeeded: 4 of 4 proofs" in shown
    assert "closed loop: completes (2 of 2 seeds)" in shown
    assert "± " in shown
    assert "history show" in shown
    for name in ("memory.png", "gantt.png"):
        with Image.open(pictures / name) as picture:
            assert picture.size[0] == 900
    page = written["page.html"].read_text()
    assert page.count("data:image/png;base64,") == 2
    assert "proofs_an_hour" in page
    events = json.loads(written["trace.json"].read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert len([each for each in slices if each["cat"] == "gpu0"]) == 40
    assert {event["ph"] for event in events} == {"M", "X", "C"}
    (row,) = csv.DictReader(written["figures.csv"].read_text().splitlines())
    assert float(row["proofs_an_hour low"]) < float(row["proofs_an_hour"]) < float(row["proofs_an_hour high"])


def test_json_is_the_same_bytes_each_time(cuzk: Cuzk, environment: dict[str, str]) -> None:
    first, again = (
        succeed(cuzk("sim", "run", *BATCH, "--json", env=environment | {"PYTHONHASHSEED": seed}))
        for seed in ("1", "2")
    )
    assert first == again
    values = json.loads(first)
    assert values["loop"] == "closed"
    figures = values["figures"]["latency_p99_s[porep-32g]"]
    assert figures["low"] < figures["mean"] < figures["high"]


def test_an_open_workload_has_a_verdict_and_deadlines(
    cuzk: Cuzk, environment: dict[str, str], schedule: Path
) -> None:
    common = ("-w", schedule, "-m", ZEN4, "--seeds", "2")
    calm = json.loads(succeed(cuzk("sim", "run", *common, "--json", env=environment)))
    assert calm["verdict"] == "stable"
    assert calm["figures"]["deadlines_missed[wpost-32g]"]["mean"] == 0
    shown = succeed(cuzk("sim", "run", *common, "--set", "workload.porep-32g.poisson=200/h", env=environment))
    assert shown.startswith("open loop: overloaded (2 of 2 seeds), with deadlines missed\n")
    assert "latency of" in shown


def test_the_verdict_is_the_same_words_everywhere(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    page, table = tmp_path / "page.html", tmp_path / "figures.csv"
    asked = (*BATCH, "--policy", "fixed:10", "--set", "machine.memory=160GiB")
    shown = succeed(cuzk("sim", "run", *asked, "--html", page, "--csv", table, env=environment))
    verdict = "would run out of memory"
    head, reserved, *_ = shown.splitlines()
    assert head == f"closed loop: {verdict} (2 of 2 seeds)"
    assert "more memory is reserved than the budget" in reserved
    assert f"<li>closed loop: {verdict} (2 of 2 seeds)</li>" in page.read_text()
    (row,) = csv.DictReader(table.read_text().splitlines())
    assert row["verdict"] == verdict
    assert json.loads(succeed(cuzk("sim", "run", *asked, "--json", env=environment)))["verdict"] == verdict
    swept = succeed(cuzk("sim", "sweep", *asked, "--vary", "machine.gpus=1,1,2", env=environment))
    assert f" {verdict} " in swept
    assert "no point makes every proof within the memory" in swept
    assert "more memory is reserved than the budget; run fewer at once" in swept
    assert "arrives" not in swept


def test_how_a_fault_goes_on_is_told_where_nobody_said_it(cuzk: Cuzk, environment: dict[str, str]) -> None:
    """Also where the fault is one of those that are varied."""
    lost = ["faults.device_loss=1h"]
    for asked in (["run", *BATCH, "--set", *lost], ["sweep", *BATCH, "--vary", *lost]):
        done = cuzk("sim", *asked, env=environment)
        succeed(done)
        (line,) = [each for each in done.stderr.splitlines() if each.startswith("assumed")]
        assert "where [faults] does not say: a lost device is back after 10 min (no device_repair)" in line


def test_a_run_that_is_too_long_to_be_kept_has_no_pictures(
    cuzk: Cuzk, environment: dict[str, str], schedule: Path, tmp_path: Path
) -> None:
    often = ("-w", schedule, "-m", ZEN4, "--set", "workload.porep-32g.poisson=200000/h")
    said = refused(cuzk("sim", "run", *often, "--pictures", tmp_path / "pictures", env=environment))
    assert "more than 300,000 partitions is not kept in the history" in said
    assert not (tmp_path / "pictures").exists()


def test_a_sweep_marks_the_front_and_writes_the_winner(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    settings, picture, table = tmp_path / "cuzk.toml", tmp_path / "front.png", tmp_path / "points.csv"
    varied = ("--vary", "machine.memory=64GiB,128GiB,384GiB", "--vary", "machine.gpus=1..2")
    files = ("--write-config", settings, "--png", picture, "--csv", table)
    shown = succeed(cuzk("sim", "sweep", *BATCH, *varied, *files, env=environment))
    assert "machine.memory" in shown
    assert ">" in shown
    assert "machine.memory=64GiB machine.gpus=1: porep-32g never fits" in shown
    assert load_config(settings).memory.total_budget != "auto"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(table.read_text().splitlines()) == 5


def test_a_point_that_no_time_is_known_for_is_told_and_never_wins(
    cuzk: Cuzk, environment: dict[str, str]
) -> None:
    """The profile knows a GPU's times of proving alone; without GPUs there would be none, for less money."""
    options = (*BATCH, "--vary", "machine.gpus=0..1", "--vary", "machine.cores=8,96", "--json")
    values = json.loads(succeed(cuzk("sim", "sweep", *options, env=environment)))
    assert [each["settings"]["machine.gpus"] for each in values["points"]] == ["1", "1"]
    assert [each["settings"]["machine.gpus"] for each in values["refused"]] == ["0", "0"]
    assert all("porep-32g" in each["why"] and "stage prove" in each["why"] for each in values["refused"])
    assert values["points"][values["winner"]]["settings"]["machine.cores"] == "96"


def test_a_comparison_without_a_case_is_that_with_fixed_numbers(
    cuzk: Cuzk, environment: dict[str, str]
) -> None:
    shown = succeed(cuzk("sim", "compare", *BATCH, "--set", "machine.memory=160GiB", env=environment))
    assert all(f"fixed:{number} " in shown for number in (1, 2, 5, 10))
    assert "would run out of memory" in shown  # ten at once take more than 160 GiB


def test_a_comparison_tells_how_sure_a_difference_is(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    case, picture = ("--with", "machine.memory=384GiB machine.gpus=2"), tmp_path / "compared.png"
    options = (*BATCH, "--set", "machine.memory=128GiB", *case)
    shown = succeed(cuzk("sim", "compare", *options, "--png", picture, env=environment))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "what machine.memory=384GiB machine.gpus=2 changes" in shown
    assert "sure" in shown
    values = json.loads(succeed(cuzk("sim", "compare", *options, "--json", env=environment)))
    assert values["differences"][0]["proofs_an_hour"]["low"] > 0


def test_a_comparison_in_which_nothing_differs_says_so(cuzk: Cuzk, environment: dict[str, str]) -> None:
    shown = succeed(
        cuzk(
            "sim",
            "compare",
            *BATCH,
            "--set",
            "machine.cores=128",
            "--with",
            "machine.cores=192",
            env=environment,
        )
    )
    assert "none of the figures that are shown" in shown


def test_a_plan_names_the_least_and_the_next_step(cuzk: Cuzk, environment: dict[str, str]) -> None:
    options = (*BATCH, "--find", "memory", "--goal", "proofs_an_hour>=30")
    shown = succeed(cuzk("sim", "plan", *options, env=environment))
    assert "the least memory that does: machine.memory=" in shown
    assert "does not: " in shown
    assert "bound by " in shown
    assert "the next better step" in shown
    impossible = (*BATCH, "--find", "gpus", "--goal", "proofs_an_hour>=100000", "--json")
    done = cuzk("sim", "plan", *impossible, env=environment)
    assert done.returncode == 1
    assert json.loads(done.stdout)["value"] is None


def test_profiles_are_listed(cuzk: Cuzk, environment: dict[str, str]) -> None:
    shown = succeed(cuzk("sim", "profiles", env=environment))
    names = ("default", ZEN4, "porep-32g", "winning-32g", "storage-provider")
    assert all(name in shown for name in names)


def test_a_bundled_workload_is_written_to_be_edited(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    own = tmp_path / "month.toml"
    assert str(own) in succeed(cuzk("sim", "profiles", "storage-provider", "-o", own, env=environment))
    assert own.read_bytes() == EXAMPLE.read_bytes()


def test_a_profile_is_written_whole_to_be_edited(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    """What is left out of it is told with every answer, and what is asked of it follows the hosts."""
    own = tmp_path / "own.toml"
    assert str(own) in succeed(cuzk("sim", "profiles", ZEN4, "-o", own, env=environment))
    assert load_profile(own) == load_profile(ZEN4)
    options = ("-t", "porep-32g", "-c", "1", "-j", "1", "-m", own, "--seeds", "1", "--json")
    whole = cuzk("sim", "run", *options, env=environment)
    assert "assumed" not in whole.stderr
    text = own.read_text()
    own.write_text(
        text.replace("cores = 96", "cores = 8").replace("synthesis_slowdown", "# synthesis_slowdown")
    )
    fewer = cuzk("sim", "run", *options, env=environment)
    (line,) = [line for line in fewer.stderr.splitlines() if line.startswith("assumed")]
    assert "no synthesis_slowdown" in line
    assert "no spread" not in line
    spans = [json.loads(succeed(each))["figures"]["makespan_s"]["mean"] for each in (whole, fewer)]
    assert spans[1] > 1.5 * spans[0]  # a minute of it is loads


def test_of_several_starts_that_is_drawn_in_which_most_was_proved(
    cuzk: Cuzk, environment: dict[str, str], schedule: Path, tmp_path: Path
) -> None:
    """By this seed the GPU is lost for the first time before anything is loaded."""
    pictures, trace = tmp_path / "pictures", tmp_path / "trace.json"
    faults = '[faults]\ndevice_loss = "20m"\ndevice_repair = "3h"\n'
    arrivals = '[[arrivals]]\ncircuit = "wpost-32g"\ncron = "*/30 * * * *"\n'
    schedule.write_text(f'kind = "open"\nduration = "3h"\n{arrivals}{faults}')
    asked = ("-w", schedule, "-m", ZEN4, "--seeds", "1", "--seed", "1")
    done = cuzk("sim", "run", *asked, "--pictures", pictures, "--trace", trace, env=environment)
    succeed(done)
    assert "in which most was proved, of host zen4, start 2, by the first seed" in done.stderr
    assert sorted(each.name for each in pictures.iterdir()) == ["gantt.png", "memory.png"]
    events = json.loads(trace.read_text())["traceEvents"]
    assert any(each["ph"] == "X" and each["cat"] == "gpu0" for each in events)


def test_no_output_takes_the_place_of_what_is_read(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    machine, settings, workload, trace = (
        tmp_path / name for name in ("ops.toml", "cuzk.toml", "w.toml", "trace.csv")
    )
    succeed(cuzk("sim", "profiles", ZEN4, "-o", machine, env=environment))
    settings.write_text('[memory]\ntotal_budget = "200GiB"\n')
    trace.write_text("at_s\n1\n")
    arrivals = '[[arrivals]]\ncircuit = "winning-32g"\ntrace = "trace.csv"\n'
    workload.write_text(f'kind = "open"\nduration = "1h"\n{arrivals}')
    asked = ("-w", workload, "-m", machine, "--config", settings)
    varied, history = ("sweep", "--vary", "machine.gpus=1..2"), Path(environment["CUZK_HOME"]) / "history.db"
    before = {path: path.read_bytes() for path in (machine, settings, workload, trace)}
    history.touch()
    for command, option, path in (
        (varied, "--write-config", machine),
        (varied, "--png", settings),
        (("run",), "--html", workload),
        (("run",), "--trace", trace),
        (("compare",), "--csv", trace),
        (("run",), "--csv", history),
    ):
        said = refused(cuzk("sim", command[0], *asked, *command[1:], option, path, env=environment))
        assert f"{path}: is the input {path} as well, expected another file to write" in said
    assert "is the input" in refused(
        cuzk(
            "sim",
            "calibrate",
            "-m",
            machine,
            "-o",
            tmp_path / ".." / tmp_path.name / "ops.toml",
            env=environment,
        )
    )
    assert {path: path.read_bytes() for path in before} == before


def test_pictures_do_not_take_the_place_of_other_outputs(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "memory.png"
    said = refused(cuzk("sim", "run", *BATCH, "--pictures", tmp_path, "--html", page, env=environment))
    assert "is the output" in said
    page.touch()
    said = refused(cuzk("sim", "run", *BATCH, "--pictures", page / "x", env=environment))
    assert f"{page / 'x'}: cannot be written, expected a folder that can be made" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "nothing to simulate"),
        (["run", "-w", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["run", "-t", "porep-23g"], "did you mean 'porep-32g'?"),
        (["run", "-t", "porep-32g", "-m", "zen"], "profile 'zen': there is no such profile"),
        (["run", "-w", "x.toml", "-c", "3"], "--count is for a batch"),
        (["profiles", ZEN4], "expected both a NAME and --output FILE, or neither"),
        (["profiles", "zen", "-o", "own.toml"], "profile 'zen': there is no such profile"),
        (["run", *BATCH, "--set", "machine.gpsu=2"], "did you mean 'machine.gpus'?"),
        (["run", *BATCH, "--set", "machine.memory=384"], "expected a size with its unit such as"),
        (["run", *BATCH, "--budget", "64GiB"], "porep-32g never fits: on host zen4 one partition"),
        (["sweep", *BATCH, "--vary", "machine.gpus=2..1"], "--vary machine.gpus=2..1: from 2 to 1"),
        (["sweep", *BATCH, "--vary", "machine.gpus=1,x"], "--vary machine.gpus: found 'x', expected"),
        (["compare", *BATCH, "--with", "machine.gpus=x"], "--with machine.gpus: found 'x', expected"),
        (["compare", *BATCH, "--with", "machine.gpus"], "--with 'machine.gpus': expected KEY=VALUE"),
        (["sweep", *BATCH, "--vary", "memory.total_budget=1GiB"], "never fits"),
        (["compare", *BATCH, "--with", " "], "--with is empty"),
        (
            ["run", *BATCH, "--budget", "200GiB", "--set", "memory.total_budget=150GiB"],
            "--budget and --set memory.total_budget are both given, and one alone can hold; leave the other",
        ),
        (["run", *BATCH, "--set", "workload.count=2"], "--count and --set workload.count are both given"),
        (
            ["sweep", *BATCH, "--vary", "workload.porep-32g.concurrency=1..2"],
            "--concurrency and --vary workload.porep-32g.concurrency are both given",
        ),
        (
            ["run", *BATCH, "--policy", "budget", "--set", "policy=fixed:2"],
            "--policy and --set policy are both given",
        ),
        (
            ["run", *BATCH, "--set", "machine.gpus=1", "--set", "machine.gpus=2"],
            "--set machine.gpus=1 and --set machine.gpus=2 are both given",
        ),
        (
            ["sweep", *BATCH, "--vary", "machine.gpus=1..2", "--set", "machine.zen4.gpus=2"],
            "--set machine.zen4.gpus=2 is in vain: --vary has other values of machine.gpus; leave one",
        ),
        (
            ["plan", *BATCH, "--find", "gpus", "--set", "machine.gpus=2"],
            "--set machine.gpus=2 is in vain: --find gpus has other values of machine.gpus",
        ),
        (
            ["compare", *BATCH, "--with", "machine.gpus=1 machine.gpus=2"],
            "--with machine.gpus=1 and --with machine.gpus=2 are both given",
        ),
        (["compare", *BATCH, "--policy", "fixed:2"], "--policy is in vain: without --with every policy"),
        (
            ["compare", *BATCH, "--with", "machine.gpus=0"],
            "knows how long the stage prove takes on a GPU alone",
        ),
        (["sweep", *BATCH, "--vary", "machine.gpu_memory=16GiB,24GiB"], "it changes nothing here"),
        (["plan", *BATCH, "--find", "memory", "--goal", "fast"], "expected such as latency_p99_s"),
        (["plan", *BATCH, "--find", "memory", "--step", "1KiB"], "expected at least 512MiB"),
        (["plan", *BATCH, "--find", "memory", "--late", "x"], "--late: found 'x', expected a percentage"),
        (["run", *BATCH, "--html", "/nowhere/x.html"], "/nowhere/x.html: cannot be written"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    cuzk: Cuzk, environment: dict[str, str], arguments: list[str], message: str
) -> None:
    assert message in refused(cuzk("sim", *arguments, env=environment))


def test_a_part_of_several_hosts_is_changed_on_each_and_says_so(
    cuzk: Cuzk, environment: dict[str, str], tmp_path: Path
) -> None:
    """Besides, the run of a host says whose it is, though the other had nothing to do."""
    text = (Path(EXAMPLE).parents[1] / "profiles" / f"{ZEN4}.toml").read_text()
    host = text[text.index("[[hosts]]") : text.index("[prices]")]
    machine = tmp_path / "two.toml"
    machine.write_text(text.replace(host, host + host.replace('"zen4"', '"spare"')))
    asked = ("-t", "winning-32g", "-c", "1", "-j", "1", "--seeds", "1", "-m", machine)
    ran = cuzk(
        "sim", "run", *asked, "--set", "machine.cores=64", "--html", tmp_path / "p.html", env=environment
    )
    shown = succeed(ran)
    assert "machine.cores changes each of hosts zen4, spare; machine.zen4.cores changes one" in ran.stderr
    assert "of a budget, the largest, of" in shown
    assert "the run, of host zen4 alone, by the first seed" in (tmp_path / "p.html").read_text()
    one = cuzk("sim", "run", *asked, "--set", "machine.spare.cores=64", env=environment)
    succeed(one)
    assert "changes each of hosts" not in one.stderr
    planned = cuzk("sim", "plan", *asked, "--find", "hosts", env=environment)
    assert "machine.zen4.hosts=2 machine.spare.hosts=2" in succeed(planned)
    assert "machine.hosts changes each of hosts zen4, spare; machine.zen4.hosts changes one" in planned.stderr
