"""Writes an input of merkle.circom with its root: make_input.py CURVE [LEAF [INDEX]] > input.json

The tree is imaginary: sibling k on the path is 10^20 + k, so that any leaf and index have a root.
"""

import json
import sys

DEPTH = 24
ROUNDS = 220
_BN, _BLS = 4965661367192848881, -0xD201000000010000  # the parameters that generate the curves' primes
MODULI = {
    "bn254": 36 * _BN**4 + 36 * _BN**3 + 18 * _BN**2 + 6 * _BN + 1,
    "bls12381": _BLS**4 - _BLS**2 + 1,
}


def hash_pair(x: int, y: int, modulus: int) -> int:
    """The circuit's Hash of (x, y), by the formula in its comment."""
    left, right = x, y
    for i in range(ROUNDS):
        left, right = (right + pow(left, 5, modulus) + (2 * i + 1) ** 7) % modulus, left
    return (left + x) % modulus


def make_input(curve: str, leaf: int = 42, index: int = 11_184_810) -> dict[str, str | list[str]]:
    """Signals by name for a leaf at an index below 2^24; numbers as decimal strings."""
    modulus = MODULI[curve]
    siblings = [10**20 + level for level in range(DEPTH)]
    directions = [index >> level & 1 for level in range(DEPTH)]
    node = leaf
    for sibling, is_right in zip(siblings, directions, strict=True):
        node = hash_pair(sibling, node, modulus) if is_right else hash_pair(node, sibling, modulus)
    return {
        "root": str(node),
        "leaf": str(leaf),
        "siblings": [str(sibling) for sibling in siblings],
        "directions": [str(direction) for direction in directions],
    }


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in MODULI:
        sys.exit(f"usage: make_input.py {'|'.join(MODULI)} [LEAF [INDEX]]")
    print(json.dumps(make_input(sys.argv[1], *map(int, sys.argv[2:])), indent=1))
