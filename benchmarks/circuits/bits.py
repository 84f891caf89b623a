"""A circuit of bits with the shape of circom's SHA-256: its witness is all zeros and ones.

It is made of cells, each of 32-bit words and 130 constraints, in `LAYERS` layers that read earlier ones:
    mix     out = a ⊕ b ⊕ c       2 a bit: b·c = mid, and a·(1 − 2b − 2c + 4mid) = out − b − c + 2mid
    choose  out = a ? b : c       1 a bit: a·(b − c) = out − c
    add     sum = word + constant 1 of 66 terms without A and B, and 1 a bit of the sum: s·(s − 1) = 0
A cell's operands are sums and mixed words of the layer before, not what was chosen, and B has one term a
constraint: so two of three wires have no point of B and one of four none of A, much as in SHA-256's keys.
What is left to the wanted size are more constraints s·(s − 1) = 0. Constants, choices and inputs come from a
seeded generator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchmarks.circuits.files import Instance
from benchmarks.circuits.terms import Integers, Terms
from groth16.r1cs import R1cs
from groth16.witness import Witness
from kernels.fields import Curve

WORD_BITS = 32
CELL_CONSTRAINTS = 4 * WORD_BITS + 2
INPUT_WORDS = 16
PUBLIC_WORDS = 1
LAYERS = 32
SEED = 20_11


@dataclass
class _Builder:
    """Constraints and values so far. Words are arrays of wires, (n, WORD_BITS)."""

    a: Terms = field(default_factory=Terms)
    b: Terms = field(default_factory=Terms)
    c: Terms = field(default_factory=Terms)
    values: list[Integers] = field(default_factory=lambda: [np.ones(1, np.int64)])
    n_wires: int = 1
    n_rows: int = 0

    def wires(self, values: Integers) -> Integers:
        """New wires with these values, of the same shape."""
        first, self.n_wires = self.n_wires, self.n_wires + values.size
        self.values.append(values.ravel())
        return np.arange(first, self.n_wires).reshape(values.shape)

    def rows(self, like: Integers) -> Integers:
        """New constraints, one for each wire of `like`."""
        first, self.n_rows = self.n_rows, self.n_rows + like.size
        return np.arange(first, self.n_rows).reshape(like.shape)

    def value(self, wires: Integers) -> Integers:
        values: Integers = np.concatenate(self.values)
        return values[wires]


def bits(curve: Curve, n_constraints: int) -> Instance:
    """The first PUBLIC_WORDS·32 input bits are public. Raises ValueError for fewer than 512 constraints."""
    if n_constraints < INPUT_WORDS * WORD_BITS:
        raise ValueError(f"a circuit of bits has at least {INPUT_WORDS * WORD_BITS} constraints")
    random, builder = np.random.default_rng(SEED), _Builder()
    inputs = builder.wires(random.integers(0, 2, (INPUT_WORDS, WORD_BITS)))
    _constrain_to_bits(builder, inputs)
    sums, others = inputs, inputs
    cells = (n_constraints - builder.n_rows) // CELL_CONSTRAINTS
    for layer in range(LAYERS):
        n = cells * (layer + 1) // LAYERS - cells * layer // LAYERS
        if n:
            sums, others = _cells(builder, random, n, sums, others)
    _constrain_to_bits(builder, np.resize(sums, n_constraints - builder.n_rows))
    return _instance(curve, builder)


def _cells(
    to: _Builder, random: np.random.Generator, n: int, sums: Integers, others: Integers
) -> tuple[Integers, Integers]:
    """A layer of n cells that reads sums and mixed words; returns its own."""

    def pick(words: Integers) -> Integers:
        """n of them, each turned by some bits, as SHA-256 does."""
        turns = random.integers(0, WORD_BITS, (n, 1))
        places = (np.arange(WORD_BITS) + turns) % WORD_BITS
        picked: Integers = words[random.integers(0, len(words), n)[:, None], places]
        return picked

    mixed = _mix(to, pick(np.concatenate([sums, others])), pick(others), pick(sums))
    chosen = _choose(to, pick(sums), mixed, pick(others))
    return _add(to, chosen, random.integers(0, 1 << WORD_BITS, n)), mixed


def _mix(to: _Builder, a: Integers, b: Integers, c: Integers) -> Integers:
    values = [to.value(wires) for wires in (a, b, c)]
    mid, out = to.wires(values[1] & values[2]), to.wires(values[0] ^ values[1] ^ values[2])
    product, result = to.rows(mid), to.rows(out)
    to.a.add(product, b, 1)
    to.b.add(product, c, 1)
    to.c.add(product, mid, 1)
    for wires, coefficient in ((0, 1), (b, -2), (c, -2), (mid, 4)):
        to.a.add(result, wires, coefficient)
    to.b.add(result, a, 1)
    for wires, coefficient in ((out, 1), (b, -1), (c, -1), (mid, 2)):
        to.c.add(result, wires, coefficient)
    return out


def _choose(to: _Builder, a: Integers, b: Integers, c: Integers) -> Integers:
    out = to.wires(np.where(to.value(a) == 1, to.value(b), to.value(c)))
    rows = to.rows(out)
    to.a.add(rows, b, 1)
    to.a.add(rows, c, -1)
    to.b.add(rows, a, 1)
    to.c.add(rows, out, 1)
    to.c.add(rows, c, -1)
    return out


def _add(to: _Builder, word: Integers, constants: Integers) -> Integers:
    """word + constant as WORD_BITS + 1 bits, of which all but the highest are the result."""
    powers = np.int64(1) << np.arange(WORD_BITS + 1)
    totals = (to.value(word) * powers[:-1]).sum(axis=1) + constants
    total = to.wires(totals[:, None] >> np.arange(WORD_BITS + 1) & 1)
    rows = to.rows(total[:, 0])
    for wires, coefficients in ((word, powers[:-1]), (total, -powers)):
        to.c.add(np.broadcast_to(rows[:, None], wires.shape), wires, coefficients)
    to.c.add(rows, 0, constants)
    _constrain_to_bits(to, total)
    return total[:, :-1]


def _constrain_to_bits(to: _Builder, wires: Integers) -> None:
    rows = to.rows(wires)
    to.a.add(rows, wires, 1)
    to.a.add(rows, 0, -1)
    to.b.add(rows, wires, 1)


def _instance(curve: Curve, builder: _Builder) -> Instance:
    matrices = (terms.matrix(builder.n_rows, curve.fr) for terms in (builder.a, builder.b, builder.c))
    public, inputs = PUBLIC_WORDS * WORD_BITS, INPUT_WORDS * WORD_BITS
    r1cs = R1cs(curve, builder.n_wires, 0, public, inputs - public, builder.n_rows, *matrices)
    values = np.zeros((builder.n_wires, curve.fr.limbs), np.uint64)
    values[:, 0] = np.concatenate(builder.values)
    return Instance(r1cs, Witness(curve, values))
