"""Proofs of which other hosts make the partitions: checked by pairing, and written once all are there.

Importing it loads the compiler.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.outputs import Outputs
from groth16.errors import InputError, VerificationFailed
from groth16.proof import parse_proof, parse_public
from groth16.verification_key import VerificationKey, read_verification_key_of
from groth16.verifier import REFUSAL, Claim, check_curve, check_signals, find_invalid

DIGEST_CHARACTERS = 16

Made = tuple[Any, Any]
"""What is in a partition's proof.json and public.json."""


@dataclass
class Taken:
    """What came of some partitions: proofs that are whole now, and partitions that are no proofs, and why."""

    whole: list[int] = field(default_factory=list)
    refused: dict[int, Exception] = field(default_factory=dict)


class Assembly:
    """The batch's partitions are counted from 0, those of its first proof first; `partitions`: of each proof.

    folder_of: where a proof goes, by its index. Raises InputError for a key that cannot be used.
    """

    def __init__(self, zkey: Path, partitions: int, folder_of: Callable[[int], Path], token: str) -> None:
        self._key = read_verification_key_of(zkey)
        self._partitions, self._folder_of, self._token = partitions, folder_of, token
        self._parts: dict[int, dict[int, Claim]] = defaultdict(dict)  # by proof and partition

    @property
    def key_digest(self) -> str:
        """See the function of that name."""
        return _digest(self._key)

    def take(self, made: Mapping[int, Made]) -> Taken:
        """Check these partitions and write the proofs that they complete. Blocks. Raises OSError."""
        taken = Taken()
        claims = self._valid(made, taken)
        for number, claim in claims.items():
            proof, partition = divmod(number, self._partitions)
            parts = self._parts[proof]
            parts[partition] = claim
            if len(parts) == self._partitions:
                self._write(proof, parts)
                del self._parts[proof]
                taken.whole.append(proof)
        return taken

    def _valid(self, made: Mapping[int, Made], taken: Taken) -> dict[int, Claim]:
        claims = dict[int, Claim]()
        for number, (proof, public) in made.items():
            try:
                claims[number] = self._claim(f"partition {number}", proof, public)
            except InputError as error:
                taken.refused[number] = error
        numbers = list(claims)
        for place in find_invalid(self._key, list(claims.values())) if claims else []:
            taken.refused[numbers[place]] = VerificationFailed(REFUSAL)
            del claims[numbers[place]]
        return claims

    def _claim(self, where: str, proof_value: object, public_value: object) -> Claim:
        proof = parse_proof(where, proof_value)
        check_curve(self._key, proof)
        public = parse_public(where, public_value, self._key.curve)
        check_signals(self._key, public)
        return public, proof

    def _write(self, proof: int, parts: Mapping[int, Claim]) -> None:
        outputs = Outputs(self._folder_of(proof), self._partitions, self._token)
        outputs.prepare()
        try:
            for partition, (public, made) in parts.items():
                outputs.write(partition, made, public)
            outputs.publish()
        finally:
            outputs.discard()


def key_digest(zkey: Path) -> str:
    """Tells the key's verification key from others. Raises InputError for a key that cannot be used."""
    return _digest(read_verification_key_of(zkey))


def _digest(key: VerificationKey) -> str:
    points = (key.alpha_g1, key.beta_g2, key.gamma_g2, key.delta_g2, key.ic)
    return hashlib.sha256(b"".join(each.tobytes() for each in points)).hexdigest()[:DIGEST_CHARACTERS]
