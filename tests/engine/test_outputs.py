"""Files appear whole, together, and only for a proof that succeeded."""

from pathlib import Path

import numpy as np
import pytest

from engine import Rejected
from engine.outputs import Outputs
from groth16.proof import Proof, read_public
from kernels.encoding import encode_points
from kernels.fields import BN254


def some_proof() -> Proof:
    g1, g2 = BN254.g1, BN254.g2
    a, b = encode_points(g1, [g1.generator])[0], encode_points(g2, [g2.generator])[0]
    return Proof(BN254, a, b, np.zeros_like(a))


def test_where_the_last_file_is_all_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, named = Outputs(tmp_path, 2, "token"), list[str]()
    outputs.prepare()
    for index in (0, 1):
        outputs.write(index, some_proof(), [1])
    rename = Path.replace
    monkeypatch.setattr(Path, "replace", lambda path, to: (named.append(to.name), rename(path, to))[1])
    outputs.publish()
    assert len(named) == 4
    assert named[-1] == outputs.last.name == "proof_0.json"


def test_nothing_has_its_name_before_all_is_published(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path / "out", 2, "token")
    outputs.prepare()
    for index in range(2):
        outputs.write(index, some_proof(), [7 + index])
    assert all(path.name.startswith(".") for path in outputs.directory.iterdir())
    outputs.publish()
    names = {path.name for path in outputs.directory.iterdir()}
    assert names == {"proof_0.json", "proof_1.json", "public_0.json", "public_1.json"}
    assert read_public(outputs.paths(1)[1], BN254) == [8]


def test_what_is_discarded_leaves_no_file(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, 1, "token")
    outputs.write(0, some_proof(), [])
    outputs.discard()
    outputs.publish()
    assert list(tmp_path.iterdir()) == []


def test_two_proofs_in_one_folder_do_not_share_temporary_files(tmp_path: Path) -> None:
    first, second = (Outputs(tmp_path, 1, token) for token in ("first", "second"))
    first.write(0, some_proof(), [1])
    second.write(0, some_proof(), [2])
    first.discard()
    second.publish()
    assert read_public(tmp_path / "public.json", BN254) == [2]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        Rejected, match=r"file/below: cannot write proofs there \(.+\); choose another folder"
    ):
        Outputs(tmp_path / "file" / "below", 1, "token").prepare()


def test_where_one_file_cannot_have_its_name_none_has(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, 2, "token")
    for index in range(2):
        outputs.write(index, some_proof(), [])
    (tmp_path / "public_1.json").mkdir()
    (tmp_path / "public_1.json" / "in the way").touch()
    with pytest.raises(OSError, match="public_1"):
        outputs.publish()
    outputs.discard()
    assert [path.name for path in tmp_path.iterdir()] == ["public_1.json"]
