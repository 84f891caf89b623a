"""The published runs of the Rust daemon: predicted by the bundled profile, and read from tables."""

import json
from pathlib import Path

import pytest

from sim import SimError, load_profile
from sim.calibrate_published import calibrate_published
from sim.published import BUNDLED, PublishedRow, predict_row, read_published, read_rows, row_errors

PROFILE = "zen4-96-core-rtx5070ti-755gib"


def test_the_bundled_profile_predicts_every_published_run() -> None:
    table = read_published()
    found = row_errors(table.measured, table.circuit, load_profile(PROFILE))
    assert len(found) == 4
    for row, _, errors in found:
        assert abs(errors["seconds_per_proof"]) <= 0.05, row
        assert abs(errors["peak_rss_gib"]) <= 0.08, row


def test_times_follow_from_the_table_and_memory_from_two_of_its_rows() -> None:
    """What is learned from the rows with 1 and 5 workers holds for 10 workers on two GPU workers."""
    table = read_published()
    profile = calibrate_published(table, load_profile(), "two rows", table.measured[:2])
    assert profile.synthesis_slowdown == pytest.approx((36.5 / 29 - 1) / 9, rel=1e-3)
    assert profile.prove is not None
    assert profile.prove.seconds_per_constraint == pytest.approx(3.5 / 130_278_869)
    assert (profile.device, profile.prove_on_cpu) == ("gpu", None)  # of the processors nothing is published
    ((_, _, errors),) = row_errors(table.measured[3:], table.circuit, profile)
    assert abs(errors["seconds_per_proof"]) <= 0.05
    assert abs(errors["peak_rss_gib"]) <= 0.08


def test_what_waits_for_the_gpu_is_bounded_by_the_published_channel() -> None:
    table, profile = read_published(), load_profile(PROFILE)
    peaks_gib = []
    for proofs in (20, 60):
        row = table.measured[2].model_copy(update={"proofs": proofs, "concurrency": 10})
        assert (row.partition_workers, row.gpu_workers) == (10, 1)  # synthesis is faster than this GPU
        peaks_gib.append(predict_row(row, table.circuit, profile)["peak_rss_gib"])
    assert peaks_gib[1] == pytest.approx(peaks_gib[0], rel=0.05)


def test_the_bundled_profile_is_what_the_table_says() -> None:
    """But for its memory, which takes long to fit."""
    table, bundled = read_published(), load_profile(PROFILE)
    learned = calibrate_published(table, bundled, PROFILE, table.measured[:1])
    assert learned.cores == bundled.cores
    assert learned.measured_on == bundled.measured_on
    assert learned.synthesis_slowdown == pytest.approx(bundled.synthesis_slowdown, rel=1e-3)
    assert learned.host_after_share == pytest.approx(bundled.host_after_share, rel=1e-3)
    assert learned.device_slowdown == pytest.approx(bundled.device_slowdown, rel=1e-3)


@pytest.mark.parametrize("workers", [12, 16, 24])
def test_more_workers_than_cores_can_serve_make_no_proof_faster(workers: int) -> None:
    """Nor much slower: they share the cores that ten keep busy."""
    table, profile = read_published(), load_profile(PROFILE)
    row = PublishedRow(proofs=20, concurrency=20, partition_workers=10, gpu_workers=2, seconds_per_proof=1.0)
    ten, more = (
        predict_row(row.model_copy(update={"partition_workers": number}), table.circuit, profile)
        for number in (10, workers)
    )
    assert 0.98 * ten["seconds_per_proof"] < more["seconds_per_proof"] < 1.2 * ten["seconds_per_proof"]


def test_rows_come_from_json_and_from_csv(tmp_path: Path) -> None:
    table = read_published()
    assert read_rows(BUNDLED) == table.measured
    path = tmp_path / "rows.csv"
    path.write_text(
        "proofs,concurrency,partition_workers,gpu_workers,seconds_per_proof,peak_rss_gib\n"
        "5,5,1,1,290.0,104\n5,5,5,1,68.4,\n"
    )
    first, second = read_rows(path)
    assert first == table.measured[0]
    assert second.peak_rss_gib is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "found a list, expected an object"),
        ('{"circuits": {}}', "stage_seconds is missing"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(SimError) as error:
        read_published(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_a_row_without_a_figure_names_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"measured": [{"proofs": 5, "concurrency": 5, "partition_workers": 1}]}))
    with pytest.raises(SimError, match=r"rows\.0\.gpu_workers is missing"):
        read_rows(path)
    with pytest.raises(SimError, match="cannot be read"):
        read_rows(tmp_path / "none.json")
