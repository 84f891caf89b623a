"""Partitions that come from elsewhere: nothing is written that was not checked, and no part of a proof."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.assembly import Assembly, key_digest
from engine.finished import finished_proofs
from groth16.errors import InputError
from tests.groth16.samples import sample

ZKEY = sample("bn254", "sample.zkey")
PROOF, PUBLIC = (json.loads(sample("bn254", name).read_text()) for name in ("proof.json", "public.json"))


@pytest.fixture
def assembly(tmp_path: Path) -> Assembly:
    """Of proofs with two partitions."""
    return Assembly(ZKEY, 2, lambda index: tmp_path / str(index), "token")


def test_a_proof_is_written_once_all_of_it_is_there(assembly: Assembly, tmp_path: Path) -> None:
    first = assembly.take({0: (PROOF, PUBLIC), 3: (PROOF, PUBLIC)})
    assert (first.whole, first.refused) == ([], {})
    assert not list(tmp_path.rglob("*.json"))
    assert assembly.take({1: (PROOF, PUBLIC)}).whole == [0]
    assert assembly.take({2: (PROOF, PUBLIC)}).whole == [1]
    assert finished_proofs(ZKEY, [tmp_path / "0", tmp_path / "1"], 2, lambda _: None) == {0, 1}
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize(
    ("proof", "public"),
    [
        (PROOF, ["1", *PUBLIC[1:]]),
        (PROOF | {"pi_a": PROOF["pi_c"]}, PUBLIC),
        (PROOF | {"pi_a": ["1", "1", "1"]}, PUBLIC),
        (PROOF, PUBLIC[1:]),
        ({}, PUBLIC),
        (PROOF, None),
    ],
)
def test_what_is_no_proof_is_refused_and_the_others_are_taken(
    assembly: Assembly, proof: Any, public: Any
) -> None:
    taken = assembly.take({0: (PROOF, PUBLIC), 1: (proof, public), 2: (PROOF, PUBLIC), 3: (PROOF, PUBLIC)})
    assert taken.whole == [1]
    assert list(taken.refused) == [1]
    assert "\n" not in str(taken.refused[1])


def test_keys_are_told_apart(assembly: Assembly) -> None:
    assert assembly.key_digest == key_digest(ZKEY)
    assert key_digest(sample("bls12381", "sample.zkey")) != key_digest(ZKEY)
    with pytest.raises(InputError, match=r"none\.zkey"):
        key_digest(Path("none.zkey"))
