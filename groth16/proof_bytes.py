"""Proofs as bytes of the public protocol, which has one field for all partitions.

On BLS12-381 each is its three points A, B, C compressed, as bellperson writes them: 48 + 96 + 48 bytes, x
big-endian, the top three bits telling that it is compressed, infinity, and which y (the serialization of
zcash, see https://www.ietf.org/archive/id/draft-irtf-cfrg-pairing-friendly-curves-11.html, appendix C). BN254
has no such standard: there the field holds snarkjs's JSON, a list of it where there are several partitions.
"""

import json
from collections.abc import Sequence
from typing import Any

from kernels.fields import BLS12_381

COMPRESSED, INFINITY, GREATER = 0x80, 0x40, 0x20
_P = BLS12_381.fq.modulus
_BYTES = 48


def proof_bytes(proofs: Sequence[bytes]) -> bytes:
    """The field for these proof.json, one a partition."""
    values = [json.loads(each) for each in proofs]
    if all(value["curve"] == BLS12_381.snarkjs_name for value in values):
        return b"".join(map(_compressed, values))
    return proofs[0] if len(proofs) == 1 else json.dumps(values).encode()


def _compressed(value: dict[str, Any]) -> bytes:
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (
        [_number(part) for part in value[name]] for name in ("pi_a", "pi_b", "pi_c")
    )
    return _point([ax], [ay], az) + _point(bx[::-1], by[::-1], bz[0]) + _point([cx], [cy], cz)


def _number(value: Any) -> Any:
    return [int(each) for each in value] if isinstance(value, list) else int(value)


def _point(x: list[int], y: list[int], z: int) -> bytes:
    """A point by its coordinates, of Fq2 the coefficient of u first; z is 0 for infinity and else 1."""
    if z == 0:
        return bytes([COMPRESSED | INFINITY]) + bytes(_BYTES * len(x) - 1)
    written = bytearray(b"".join(each.to_bytes(_BYTES, "big") for each in x))
    written[0] |= COMPRESSED | (GREATER if y > [-each % _P for each in y] else 0)
    return bytes(written)
