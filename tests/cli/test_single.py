"""`cuzk setup`, `vkey`, `prove` and `verify` on files, right and wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import examples
from groth16.inputs import read_inputs
from groth16.witness import Witness, write_witness
from groth16.witness_calculator import WitnessCalculator
from kernels.fields import BLS12_381, BN254
from tests.cli.conftest import CUZK, Cuzk, Files, edited, refused, succeed


def witness_of(files: Files, path: Path, change: int = 0) -> Path:
    """The witness of the example's inputs, its first public signal wrong by `change`."""
    witness = WitnessCalculator(files.wasm).calculate(read_inputs(files.inputs))
    values = witness.values.copy()
    values[1, 0] += change
    write_witness(path, Witness(witness.curve, values))
    return path


def test_a_proof_verifies(cuzk: Cuzk, files: Files) -> None:
    assert succeed(cuzk("verify", files.vkey, files.public, files.proof)) == "OK\n"


def test_prove_takes_a_witness_and_prints_json(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    witness = witness_of(files, tmp_path / "w.wtns")
    outcome = json.loads(succeed(cuzk("prove", files.zkey, witness, "--json", cwd=tmp_path)))
    stages = {"start", "load", "witness", "synthesize", "quotient", "prove", "verify", "total"}
    assert stages == outcome["seconds"].keys()
    assert outcome["proof"] == "proof.json"
    proof, public = tmp_path / outcome["proof"], tmp_path / outcome["public"]
    assert succeed(cuzk("verify", files.vkey, public, proof)) == "OK\n"


def test_prove_keeps_what_it_derives_where_the_settings_say(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    (tmp_path / "cuzk.toml").write_text('[srs]\nparam_cache = "params"\n')
    witness = witness_of(files, tmp_path / "w.wtns")
    succeed(cuzk("prove", files.zkey, witness, cwd=tmp_path))
    assert len(list((tmp_path / "params" / "derived").glob("*.matrices-*"))) == 1


def test_another_public_signal_is_not_valid(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    wrong = edited(files.public, tmp_path / "public.json", lambda signals: signals.__setitem__(0, "43"))
    done = cuzk("verify", files.vkey, wrong, files.proof)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "does not verify" in done.stderr


def test_several_proofs_at_once_and_the_wrong_ones_named(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    wrong = edited(files.public, tmp_path / "public.json", lambda signals: signals.__setitem__(0, "43"))
    copies = [tmp_path / name for name in ("second.json", "third.json")]
    for copy in copies:
        copy.write_bytes(files.proof.read_bytes())
    right = [files.public, files.proof]
    assert succeed(cuzk("verify", files.vkey, *right, *right, files.public, copies[0])) == "OK\n"
    done = cuzk("verify", files.vkey, *right, wrong, copies[0], wrong, copies[1])
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == [str(copy) for copy in copies]
    assert "has no proof" in refused(cuzk("verify", files.vkey, *right, wrong))
    more = edited(files.public, tmp_path / "more.json", lambda signals: signals.append("1"))
    assert f"{more}: 2 public" in refused(cuzk("verify", files.vkey, *right, more, copies[1]))


def test_no_bad_file_hides_another(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    off = edited(files.proof, tmp_path / "off.json", lambda proof: proof["pi_a"].__setitem__(0, "3"))
    more = edited(files.public, tmp_path / "more.json", lambda signals: signals.append("1"))
    wrong = edited(files.public, tmp_path / "wrong.json", lambda signals: signals.__setitem__(0, "43"))
    (text := tmp_path / "text.json").write_text("no JSON")
    (invalid := tmp_path / "invalid.json").write_bytes(files.proof.read_bytes())
    pairs = [files.public, off, more, files.proof, wrong, invalid, files.public, files.proof, text, off]
    done = cuzk("verify", files.vkey, *pairs)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == [
        str(each) for each in (off, more, text, invalid)
    ]
    for line, words in zip(
        lines, ("is not a point", "2 public signals", "no valid JSON", "not valid"), strict=True
    ):
        assert words in line


def test_another_point_is_not_valid(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    def swap(proof: Any) -> None:
        proof["pi_a"], proof["pi_c"] = proof["pi_c"], proof["pi_a"]

    assert (
        cuzk("verify", files.vkey, files.public, edited(files.proof, tmp_path / "p.json", swap)).returncode
        == 1
    )


def test_a_point_off_the_curve_is_refused(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    wrong = edited(files.proof, tmp_path / "p.json", lambda proof: proof["pi_a"].__setitem__(0, "3"))
    assert "pi_a" in refused(cuzk("verify", files.vkey, files.public, wrong))


def test_a_signal_plus_the_modulus_is_refused(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    modulus = (BLS12_381 if "bls" in str(files.wasm) else BN254).fr.modulus

    def add_modulus(signals: Any) -> None:
        signals[0] = str(int(signals[0]) + modulus)

    line = refused(
        cuzk("verify", files.vkey, edited(files.public, tmp_path / "p.json", add_modulus), files.proof)
    )
    assert "public signal 0" in line


def test_a_proof_of_another_curve_is_refused_by_name(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    def rename(proof: Any) -> None:
        proof["curve"] = "bls12381" if proof["curve"] == "bn128" else "bn128"
        for part, infinity in (("pi_a", ["0", "1", "0"]), ("pi_c", ["0", "1", "0"])):
            proof[part] = infinity
        proof["pi_b"] = [["0", "0"], ["1", "0"], ["0", "0"]]

    other = edited(files.proof, tmp_path / "other.json", rename)
    line = refused(cuzk("verify", files.vkey, files.public, other))
    assert f"{other}: the proof is on" in line


def test_arguments_in_another_order_are_refused(cuzk: Cuzk, files: Files) -> None:
    assert str(files.proof) in refused(cuzk("verify", files.proof, files.public, files.vkey))


@pytest.mark.parametrize("with_r1cs", [True, False])
def test_a_wrong_witness_is_refused(cuzk: Cuzk, files: Files, tmp_path: Path, with_r1cs: bool) -> None:
    wrong = witness_of(files, tmp_path / "w.wtns", change=1)
    options = ["--r1cs", files.r1cs] if with_r1cs else []
    line = refused(cuzk("prove", files.zkey, wrong, *options, cwd=tmp_path))
    assert ("constraint 0" in line) == with_r1cs
    assert ("--r1cs FILE" in line) != with_r1cs
    assert "not satisfy" in line
    assert [path.name for path in tmp_path.iterdir()] == ["w.wtns"]


def test_a_key_of_another_curve_is_refused(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    other = "multiplier" if "bls" in str(files.wasm) else "multiplier-bls12381"
    wasm = examples.CIRCUITS[other].wasm
    assert "curve" in refused(cuzk("prove", files.zkey, files.inputs, "--wasm", wasm, cwd=tmp_path))


def test_setup_says_that_it_is_unsafe(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    done = cuzk("setup", files.r1cs, "-o", tmp_path / "c.zkey")
    succeed(done)
    assert "development only" in done.stderr
    assert "UNSAFE" in succeed(cuzk("setup", "--help"))


def test_a_key_goes_to_stdout_alone(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    done = cuzk("vkey", files.zkey, "-o", "-")
    assert json.loads(succeed(done)) == json.loads(files.vkey.read_text())
    assert "written" in done.stderr
    with (tmp_path / "out").open("wb") as out:
        command = f"echo before; {CUZK} vkey {files.zkey} -o /dev/stdout; echo after"
        subprocess.run(command, shell=True, stdout=out, stderr=subprocess.DEVNULL, check=True)
    assert (tmp_path / "out").read_bytes() == b"before\n" + files.vkey.read_bytes() + b"after\n"


def test_inputs_come_from_stdin(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    with files.inputs.open("rb") as inputs:
        succeed(cuzk("prove", files.zkey, "-", "--wasm", files.wasm, stdin=inputs, cwd=tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["proof.json", "public.json"]
    done = cuzk("vkey", "-", stdin=subprocess.PIPE, cwd=tmp_path)
    assert "/dev/stdin: is a pipe, expected a file" in refused(done)


def test_a_full_disk_is_an_error_in_one_line(cuzk: Cuzk, files: Files) -> None:
    assert "/dev/full: cannot be written (No space left" in refused(
        cuzk("vkey", files.zkey, "-o", "/dev/full")
    )


def test_a_witness_and_inputs_in_each_others_place(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    witness = witness_of(files, tmp_path / "w.wtns")
    assert "give the circuit's .wasm" in refused(cuzk("prove", files.zkey, files.inputs, cwd=tmp_path))
    line = refused(cuzk("prove", files.zkey, witness, "--wasm", files.wasm, cwd=tmp_path))
    assert "drop --wasm" in line


def test_a_bad_signal_names_the_inputs_file(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    def spoil(inputs: Any) -> None:
        inputs["a"] = "98765.5"

    wrong = edited(files.inputs, tmp_path / "in.json", spoil)
    line = refused(cuzk("prove", files.zkey, wrong, "--wasm", files.wasm, cwd=tmp_path))
    assert f"{wrong}: input 'a' has a value that is no integer, expected" in line
    assert "98765" not in line


def test_a_circuit_of_another_curve_is_refused(cuzk: Cuzk, files: Files, tmp_path: Path) -> None:
    other = "multiplier" if "bls" in str(files.wasm) else "multiplier-bls12381"
    r1cs = examples.CIRCUITS[other].r1cs
    options = ["--wasm", files.wasm, "--r1cs", r1cs]
    assert f"{r1cs}: is a circuit on" in refused(
        cuzk("prove", files.zkey, files.inputs, *options, cwd=tmp_path)
    )
