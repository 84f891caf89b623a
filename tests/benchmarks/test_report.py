"""A result's way to JSON and to the page, and what the page says of bars, rooflines and peers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.__main__ import main
from benchmarks.contestants.registry import OURS, OURS_64
from benchmarks.results import Measurement, Result, Runs, merged
from benchmarks.roofline import least_s

MACHINE = {
    "processor": "A processor (family 1, model 2)",
    "features": ["adx", "avx512ifma"],
    "cores_used": 2,
    "cores": 16,
    "load_before": 0.1,
    "python": "3.12.1",
    "numba": "0.68",
    "numpy": "2.4",
    "commit": "abc",
    "measured_at": "2026-01-02T03:04:05+00:00",
}


def result() -> Result:
    rate = Runs([0.003, 0.002, 0.004], [0.002] * 3, {"operations": 1_000_000})
    proof = {OURS: Runs([0.2, 0.1, 0.3], [0.3] * 3), "snarkjs": Runs([3.6], [7.0])}
    msm = {OURS: Runs([1.0] * 3, [1.0] * 3), OURS_64: Runs([4.0] * 3, [4.0] * 3)}
    return Result(
        MACHINE,
        versions={OURS: "0.1.0", "snarkjs": "0.7.6"},
        missing={"arkworks": "ended with status 1: no module: pip install -e '.[bench]'"},
        measurements=[
            Measurement("mul BLS12-381.Fq", "bls12381", 1, 1, {OURS: rate}),
            Measurement("proof sha256", "bn254", 62_528, 2, proof, {"BN254.Fq": 30e6}),
            Measurement(
                "msm g1",
                "bls12381",
                1 << 20,
                1,
                msm,
                {"BLS12-381.Fq": 250e6},
                details={"additions": 20_000_000},
            ),
        ],
    )


def row(page: str, beginning: str) -> list[str]:
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {beginning}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Without the plot, whose library is optional."""
    monkeypatch.setattr(report, "plot", lambda _, to: to.touch())
    report.write_report([result()], tmp_path / "page.md")
    return (tmp_path / "page.md").read_text()


def test_json_gives_back_what_was_written(tmp_path: Path) -> None:
    result().write(tmp_path / "r.json")
    assert Result.read(tmp_path / "r.json") == result()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "measurements": [{}]}'])
def test_another_file_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(ValueError, match=r"r\.json: is no result") as caught:
        Result.read(tmp_path / "r.json")
    assert "\n" not in str(caught.value)


def test_results_of_one_machine_and_commit_become_one() -> None:
    other = result()
    other.machine = {**MACHINE, "commit": "def"}
    first, second = merged([result(), other, result()])
    assert len(first.measurements) == 2 * len(second.measurements)
    assert second == other


def test_the_least_time_is_products_times_rates_over_threads() -> None:
    work = Measurement("proof", "bn254", 1, 2, products={"Fq": 4, "Fr": 6})
    assert least_s(work, {"Fq": 0.5, "Fr": 1.0}) == 4.0
    assert least_s(work, {"Fq": 0.5}) is None
    assert least_s(Measurement("pairing", "bn254", 1, 2), {"Fq": 0.5}) is None


def test_without_its_library_the_page_has_no_plot_and_a_line_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result().write(tmp_path / "r.json")
    page = tmp_path / "page.md"
    monkeypatch.setattr(sys, "argv", ["benchmarks", "report", str(tmp_path / "r.json"), "--to", str(page)])
    main()
    told = capsys.readouterr()
    assert told.out == f"{page}\n"
    (line,) = told.err.splitlines()
    assert "pip install" in line
    assert "## A processor" in page.read_text()
    assert "page.png" not in page.read_text()
    assert not page.with_suffix(".png").exists()


def test_a_busy_machine_is_told() -> None:
    busy = result()
    busy.machine = {**MACHINE, "load_before": 9.0}
    assert "busy with other work" in report._machine(busy)
    assert "busy with other work" not in report._machine(result())


def test_bars_are_met_or_missed(page: str) -> None:
    assert row(page, "proof of sha256 62,528") == [
        "proof of sha256 62,528, BN254, warm", "0.2 s", "0.16 s", "**missed**", "0.15 s", "30 million",
    ]  # fmt: skip
    assert row(page, "the same over snarkjs's, bn254")[1:4] == ["0.0556 ×", "0.0667 ×", "met"]
    assert row(page, "an addition")[1:5] == ["50 ns", "100 ns", "met", "50 ns"]
    assert "NTT" not in page  # what was not measured has no bar


def test_figures_have_spread_roofline_and_lead(page: str) -> None:
    header = row(page, "what | curve")
    assert header[4:7] == [OURS, OURS_64, "snarkjs"]
    assert row(page, "proof sha256")[4:] == ["0.2 ± 50 %", "", "3.6, once", "0.3", "", "18.0 × (snarkjs)"]
    # 250 million products at 2 ns on one core take half a second of one.
    assert row(page, "msm g1")[4:] == ["1 ± 0 %", "4 ± 0 %", "", "1", "50 %", ""]
    assert row(page, "BLS12-381.Fq")[:3] == ["BLS12-381.Fq", "mul", "2.00"]


def test_the_page_says_where_and_without_whom(page: str) -> None:
    assert "## A processor (family 1, model 2)" in page
    assert "Without arkworks: ended with status 1" in page
    assert "![Whole proofs, by machine and contestant](page.png)" in page
