"""Which proofs of a batch are in its folder already, whole and valid. Importing it loads the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from engine.outputs import Outputs
from groth16.errors import InputError
from groth16.proof import read_proof, read_public
from groth16.verification_key import VerificationKey, read_verification_key_of
from groth16.verifier import Claim, check_curve, check_signals, find_invalid

AT_ONCE = 256  # proofs that are checked together take little longer than two


def finished_proofs(
    zkey: Path, folders: Iterable[Path], partitions: int, checked: Callable[[int], None]
) -> set[int]:
    """The places of those folders that hold a valid proof, with as many partitions.

    Each is checked by pairing; what cannot be read counts as not there. checked: is told how many so far.
    Raises InputError for a key that cannot be used.
    """
    key, found, remaining = read_verification_key_of(zkey), set[int](), enumerate(folders)
    while some := list(islice(remaining, AT_ONCE)):
        found |= _valid(key, some, partitions)
        checked(some[-1][0] + 1)
    return found


def _valid(key: VerificationKey, some: list[tuple[int, Path]], partitions: int) -> set[int]:
    claims = [(place, claim) for place, folder in some for claim in _claims(key, folder, partitions)]
    whole = {place for place, _ in claims}
    invalid = find_invalid(key, [claim for _, claim in claims])
    return whole - {claims[each][0] for each in invalid}


def _claims(key: VerificationKey, folder: Path, partitions: int) -> list[Claim]:
    """Of all partitions, or none where one is missing or malformed."""
    outputs = Outputs(folder, partitions, "")
    try:
        return [_claim(key, *outputs.paths(index)) for index in range(partitions)]
    except (InputError, OSError):
        return []


def _claim(key: VerificationKey, proof_path: Path, public_path: Path) -> Claim:
    public, proof = read_public(public_path, key.curve), read_proof(proof_path)
    check_signals(key, public)
    check_curve(key, proof)
    return public, proof
