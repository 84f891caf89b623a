"""What the page says of a GPU."""

from __future__ import annotations

from benchmarks import report
from benchmarks.bars_gpu import GPU_BARS
from benchmarks.contestants.registry import GPU
from benchmarks.report_gpu import gpu_section
from benchmarks.results import Measurement, Result, Runs


def measured(task: str, curve: str, size: int, *wall_s: float, **known: float) -> Measurement:
    runs = Runs(list(wall_s), [0.0 for _ in wall_s], {"operations": known.pop("operations", 1)})
    return Measurement(f"gpu {task}", curve, size, 16, {GPU: runs}, known)


RESULT = Result(
    {},
    measurements=[
        measured("mul BLS12-381.Fq", "bls12381", 1, 1.25, 1.0, 1.5, operations=25e9),
        measured("msm g1", "bls12381", 1 << 20, 0.010, 0.012, 0.011, **{"BLS12-381.Fq": 100e6}),
        measured("ntt", "bls12381", 1 << 20, 0.001, **{"BLS12-381.Fr": 10e6}),
        measured("upload", "bn254", 4 << 30, 0.1),
        Measurement("gpu msm g1", "bn254", 1 << 20, 16, failed={GPU: "a sum is wrong"}),
        Measurement("ntt", "bn254", 1 << 20, 1, {"cuzk": Runs([0.1], [0.1])}),
    ],
)


def test_times_products_and_their_share_of_the_roofline() -> None:
    rows = [line.split(" | ") for line in gpu_section(RESULT).splitlines() if line.startswith("| ")]
    products, total, transform, upload = ([each.strip(" |") for each in row] for row in rows[2:])
    assert products == ["mul BLS12-381.Fq", "bls12381", "1", "1,250", "± 20 %", "20.0 G/s", ""]
    # 100 million products at 40 ps, the fastest run's, take 4 ms of the 11
    assert total == ["msm g1", "bls12381", "1,048,576", "11", "± 9 %", "100 million", "36 %"]
    assert transform[3:] == ["1", "once", "10 million", ""]  # nobody knows how fast its products are
    assert upload[5] == "42.9 GB/s"


def test_without_one_there_is_no_section() -> None:
    assert gpu_section(Result({}, measurements=RESULT.measurements[-1:])) == ""


def test_its_figures_are_not_among_the_processors() -> None:
    assert "msm" not in report._figures(RESULT)
    assert "BLS12-381.Fq" not in report._products(RESULT)


def test_bars_are_met_or_missed() -> None:
    figures = {bar.text: (bar, bar.figure(RESULT)) for bar in GPU_BARS}
    shown = {text: figure.value <= bar.limit for text, (bar, figure) in figures.items() if figure}
    assert shown == {
        "a product over BLS12-381.Fq on the GPU": False,  # 50 ps, and 37 are wanted
        "G1 sum of 2^20, BLS12-381, points on the GPU": True,
        "NTT of 2^20, BLS12-381, on the GPU": False,
    }
