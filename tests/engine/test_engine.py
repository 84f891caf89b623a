"""Batches of a tiny circuit with real keys, kernels and threads: what runs at once, what fails."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from engine import (
    CircuitSpec,
    Engine,
    EngineError,
    ProofCancelled,
    ProofFailed,
    ProofRequest,
    ProofResult,
    Rejected,
    load_shape,
    stages,
)
from engine.proofs import Stage
from groth16.errors import InputError
from groth16.proof import read_proof, read_public
from groth16.verification_key import read_verification_key_of
from groth16.verifier import verify
from groth16.zkey import read_header
from policy import Admit, Evict, Failed, Limits, Proved
from tests.engine.support import CONFIG, Hold, Rows, limits_for, run


def request(
    spec: CircuitSpec, folder: Path, name: str = "proof", partitions: int | None = None
) -> ProofRequest:
    return ProofRequest(spec, name, folder / name, partitions)


async def prove_three(spec: CircuitSpec, limits: Limits, folder: Path, rows: Rows) -> list[Path]:
    async with Engine(CONFIG, limits, rows) as running:
        ids = [running.submit(request(spec, folder, f"proof {number}")) for number in range(3)]
        results = [await running.result(each) for each in ids]
        assert running.peak_reserved_bytes <= limits.budget_bytes
        assert running.reserved_bytes == load_shape(spec).entries_bytes
    return [result.proof_paths[0] for result in results]


@pytest.mark.parametrize("at_once", [1, 3])
def test_as_many_run_at_once_as_the_budget_has_room_for(
    multiplier: CircuitSpec, tmp_path: Path, at_once: int
) -> None:
    rows, limits = Rows(), limits_for(multiplier, at_once)
    proofs = run(prove_three(multiplier, limits, tmp_path, rows))
    assert rows.most_at_once(Admit, (Proved, Failed)) == at_once
    (row,) = rows.tables["run"]
    assert row["state"] == "succeeded"
    assert row["peak_reserved_bytes"] == limits.budget_bytes
    key = read_verification_key_of(multiplier.zkey)
    for path in proofs:
        verify(key, read_public(path.with_name("public.json"), key.curve), read_proof(path))


def test_a_proof_of_several_partitions_has_numbered_files(multiplier: CircuitSpec, tmp_path: Path) -> None:
    async def steps() -> ProofResult:
        async with Engine(CONFIG, limits_for(multiplier, 2)) as running:
            return await running.result(running.submit(request(multiplier, tmp_path, partitions=2)))

    result = run(steps())
    assert [path.name for path in result.proof_paths] == ["proof_0.json", "proof_1.json"]
    assert [path.name for path in result.public_paths] == ["public_0.json", "public_1.json"]
    assert len({path.read_bytes() for path in result.proof_paths}) == 2  # blinded anew
    assert sorted(tmp_path.glob("proof/*")) == sorted((*result.proof_paths, *result.public_paths))


def test_a_wrong_witness_fails_its_own_proof_by_name(
    multiplier: CircuitSpec, wrong_witness: CircuitSpec, tmp_path: Path
) -> None:
    rows = Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 3), rows) as running:
            good = [running.submit(request(multiplier, tmp_path, name)) for name in ("first", "third")]
            bad = running.submit(request(wrong_witness, tmp_path, "second", partitions=2))
            with pytest.raises(
                ProofFailed, match=r"second: .* constraint 0 \(from 0\) of .*r1cs fails first"
            ):
                await running.result(bad)
            for each in good:
                await running.result(each)

    run(steps())
    assert list((tmp_path / "second").iterdir()) == []
    assert [row["state"] for row in rows.tables["proof"]] == ["succeeded", "succeeded", "failed"]
    assert rows.tables["run"][0]["state"] == "failed"
    assert "constraint 0" in rows.tables["run"][0]["error"]


def test_without_the_circuit_the_failed_check_is_named(wrong_witness: CircuitSpec, tmp_path: Path) -> None:
    async def steps() -> None:
        spec = replace(wrong_witness, r1cs=None)
        async with Engine(CONFIG, limits_for(spec, 1)) as running:
            with pytest.raises(ProofFailed, match="pairing equation does not hold"):
                await running.result(running.submit(request(spec, tmp_path)))

    run(steps())


def test_an_unusable_witness_is_the_cause_of_the_failure(wrong_witness: CircuitSpec, tmp_path: Path) -> None:
    async def steps() -> None:
        assert wrong_witness.witness is not None
        wrong_witness.witness.write_bytes(b"wtns")
        async with Engine(CONFIG, limits_for(wrong_witness, 1)) as running:
            proof_id = running.submit(request(wrong_witness, tmp_path))
            with pytest.raises(ProofFailed, match=r"wrong\.wtns") as failure:
                await running.wait_finished(proof_id, "synthesize")
            assert isinstance(failure.value.__cause__, InputError)
            with pytest.raises(ProofFailed):
                await running.wait_started(proof_id, "prove")
            assert (await running.wait_finished(proof_id, "load")).seconds > 0

    run(steps())


def test_a_key_that_cannot_be_loaded_fails_who_waits_for_it_and_can_be_mended(
    multiplier: CircuitSpec, tmp_path: Path
) -> None:
    damaged = replace(multiplier, zkey=tmp_path / "damaged.zkey")
    whole = multiplier.zkey.read_bytes()
    a_points = read_header(multiplier.zkey).container.sections[5].offset_bytes
    damaged.zkey.write_bytes(whole[:a_points] + b"\x01" + whole[a_points + 1 :])  # off the curve

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 3)) as running:
            proof_id = running.submit(request(damaged, tmp_path, "damaged"))
            with pytest.raises(ProofFailed, match=r"damaged: .*damaged\.zkey"):
                await running.result(proof_id)
            damaged.zkey.write_bytes(whole)
            await running.result(running.submit(request(damaged, tmp_path, "mended")))

    run(steps())


def test_what_never_fits_is_refused_with_the_numbers(multiplier: CircuitSpec, tmp_path: Path) -> None:
    limits = limits_for(multiplier, 1)
    small = replace(limits, budget_bytes=limits.budget_bytes - 1)

    async def steps() -> None:
        async with Engine(CONFIG, small) as running:
            with pytest.raises(Rejected, match=r"proof: .*[KM]iB"):
                running.submit(request(multiplier, tmp_path))
            with pytest.raises(EngineError, match="was never submitted"):
                running.cancel("an id that nobody gave out")

    run(steps())


def test_a_folder_that_cannot_be_written_is_refused_at_once(multiplier: CircuitSpec, tmp_path: Path) -> None:
    (tmp_path / "proof").write_text("a file where the folder should be")

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 1)) as running:
            with pytest.raises(Rejected, match="cannot write proofs there"):
                running.submit(request(multiplier, tmp_path))

    run(steps())


def test_idle_keys_are_dropped_when_others_need_the_room(multiplier: CircuitSpec, tmp_path: Path) -> None:
    other = replace(multiplier, zkey=tmp_path / "other.zkey")
    other.zkey.write_bytes(multiplier.zkey.read_bytes())
    rows = Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(other, 1), rows) as running:
            for number, spec in enumerate((multiplier, other, multiplier)):
                await running.result(running.submit(request(spec, tmp_path, str(number))))

    run(steps())
    evicted = [message.entry.key.split("#")[0] for message in rows.log() if isinstance(message, Evict)]
    assert evicted[0] == f"srs:{multiplier.zkey.name}"
    assert "srs:other.zkey" in evicted


def test_leaving_cancels_what_is_unfinished(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, rows = Hold(stages.prove_points), Rows()
    monkeypatch.setattr(stages, "prove_points", hold)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 1), rows) as running:
            ids = [running.submit(request(multiplier, tmp_path, str(number))) for number in range(2)]
            await hold.entered()
            waiting = asyncio.create_task(running.result(ids[1]))
        with pytest.raises(ProofCancelled):
            await waiting
        with pytest.raises(EngineError, match="takes no more proofs"):
            running.submit(request(multiplier, tmp_path))

    threads_before = set(threading.enumerate())
    run(steps())
    assert set(threading.enumerate()) <= threads_before
    assert hold.held_bytes() == 0
    assert [row["state"] for row in rows.tables["run"] + rows.tables["proof"]] == ["cancelled"] * 3
    assert [stage for stage in rows.tables["stage"] if stage["ended_s"] is None] == []
    assert rows.flushed == 1


@pytest.mark.parametrize(
    ("error", "state"), [(ValueError("of the caller"), "failed"), (asyncio.CancelledError(), "cancelled")]
)
def test_the_run_ends_as_its_block_does(multiplier: CircuitSpec, error: BaseException, state: str) -> None:
    rows = Rows()

    async def steps() -> None:
        with pytest.raises(type(error)):
            async with Engine(CONFIG, limits_for(multiplier, 1), rows):
                raise error

    run(steps())
    assert rows.tables["run"][0]["state"] == state
    assert rows.tables["run"][0]["ended_at"] is not None


def test_there_is_one_current_engine_and_only_inside_its_block(multiplier: CircuitSpec) -> None:
    async def steps() -> None:
        limits = limits_for(multiplier, 1)
        async with Engine(CONFIG, limits) as running:
            assert engine.current() is running
            with pytest.raises(EngineError, match="running in this process already"):
                async with Engine(CONFIG, limits):
                    pass
            assert engine.current() is running

    run(steps())
    with pytest.raises(EngineError, match="no engine is running"):
        engine.current()


@pytest.mark.parametrize("part", ["zkey", "wasm", "inputs", "r1cs"])
def test_a_missing_file_is_refused_by_name_at_once(
    multiplier: CircuitSpec, tmp_path: Path, part: str
) -> None:
    async def steps() -> None:
        spec = replace(multiplier, **{part: tmp_path / "missing"})
        async with Engine(CONFIG, limits_for(multiplier, 1)) as running:
            with pytest.raises((EngineError, InputError), match=r"missing: .*[Nn]o such file"):
                running.submit(request(spec, tmp_path))

    run(steps())


@pytest.mark.parametrize(("until", "stages_made"), [("load", set()), ("synthesize", {"synthesize"})])
def test_work_that_ends_before_the_proof_makes_none_and_holds_nothing(
    multiplier: CircuitSpec, tmp_path: Path, until: Stage, stages_made: set[str]
) -> None:
    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 1), Rows()) as running:
            ask = replace(request(multiplier, tmp_path), until=until)
            proof_id = running.submit(ask)
            result = await running.result(proof_id)
            assert stages_made <= {name for name, seconds in result.stage_seconds.items() if seconds > 0}
            assert running.reserved_bytes == load_shape(multiplier).entries_bytes
            assert [entry.users for entry in running.entries()] == [0, 0, 0]
            assert running.unload(multiplier) > 0
            assert running.entries() == []

    run(steps())
    assert list(tmp_path.iterdir()) == []


def test_who_wants_no_files_is_given_what_would_be_in_them(multiplier: CircuitSpec, tmp_path: Path) -> None:
    async def steps() -> ProofResult:
        async with Engine(CONFIG, limits_for(multiplier, 1), Rows()) as running:
            ask = ProofRequest(multiplier, "kept", None, partitions=2)
            return await running.result(running.submit(ask))

    result: ProofResult = run(steps())
    assert (result.proof_paths, result.public_paths, len(result.contents)) == ((), (), 2)
    key = read_verification_key_of(multiplier.zkey)
    for proof, public in result.contents:
        (tmp_path / "proof.json").write_bytes(proof)
        (tmp_path / "public.json").write_bytes(public)
        verify(key, read_public(tmp_path / "public.json", key.curve), read_proof(tmp_path / "proof.json"))
