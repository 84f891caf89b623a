"""An independent Groth16 in Python integers and py_ecc, to check ours against.

It knows the toxic values, so it works with discrete logarithms: a key or a proof is what the generator has
to be multiplied by. Polynomials are evaluated by Lagrange's formula as the paper writes it (Groth, "On the
Size of Pairing-based Non-interactive Arguments", 2016, section 3.2), so no NTT, no odd coset and no array of
limbs is shared with the code under test.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from py_ecc import optimized_bls12_381, optimized_bn128

Row = dict[int, int]
LIBRARIES: dict[str, ModuleType] = {"bn254": optimized_bn128, "bls12381": optimized_bls12_381}
MODULI: dict[str, int] = {name: library.curve_order for name, library in LIBRARIES.items()}


@dataclass
class Circuit:
    """Rows map a wire to its coefficient. Wires: 0 is one, then outputs, public inputs, private ones."""

    curve: str
    n_outputs: int
    n_inputs: int
    witness: list[int]
    a: list[Row] = field(default_factory=list)
    b: list[Row] = field(default_factory=list)
    c: list[Row] = field(default_factory=list)

    @property
    def modulus(self) -> int:
        return MODULI[self.curve]

    @property
    def n_public(self) -> int:
        return self.n_outputs + self.n_inputs

    @property
    def public(self) -> list[int]:
        return self.witness[1 : self.n_public + 1]

    @property
    def domain_size(self) -> int:
        size = 2
        while size < len(self.a) + self.n_public + 1:
            size *= 2
        return size

    def constrain(self, a: Row, b: Row, c: Row) -> None:
        """Add a·b = c, made true for this witness through the coefficient of the wire that is one."""
        missing = dot(a, self.witness) * dot(b, self.witness) - dot(c, self.witness)
        constant = (c.get(0, 0) + missing) % self.modulus
        rest = {wire: value for wire, value in c.items() if wire}
        self.a.append(a)
        self.b.append(b)
        self.c.append({0: constant} | rest if constant else rest)


def dot(row: Row, values: list[int]) -> int:
    return sum(coefficient * values[wire] for wire, coefficient in row.items())


def random_circuit(
    curve: str,
    seed: int,
    n_constraints: int = 5,
    n_public: int = 2,
    n_private: int = 4,
    witness_below: int | None = None,
) -> Circuit:
    """A satisfied circuit of sparse random rows (empty ones too); witness_below=2 gives zeros and ones."""
    draw = random.Random(seed)
    modulus = MODULI[curve]
    values = [draw.randrange(witness_below or modulus) for _ in range(n_public + n_private)]
    circuit = Circuit(curve, n_public // 2, n_public - n_public // 2, [1, *values])

    def row() -> Row:
        wires = draw.sample(range(len(circuit.witness)), min(len(circuit.witness), draw.randrange(4)))
        return {wire: draw.choice([1, modulus - 1, draw.randrange(1, modulus)]) for wire in sorted(wires)}

    for _ in range(n_constraints):
        circuit.constrain(row(), row(), row())
    return circuit


def r1cs_bytes(circuit: Circuit) -> bytes:
    """The file as iden3's specification of the r1cs binary format, version 1, lays it out."""

    def element(value: int) -> bytes:
        return value.to_bytes(32, "little")

    def row(terms: Row) -> bytes:
        return struct.pack("<I", len(terms)) + b"".join(
            struct.pack("<I", wire) + element(coefficient) for wire, coefficient in terms.items()
        )

    n_wires, n_private_inputs = len(circuit.witness), 0
    header = struct.pack("<I", 32) + element(circuit.modulus)
    header += struct.pack("<IIII", n_wires, circuit.n_outputs, circuit.n_inputs, n_private_inputs)
    header += struct.pack("<QI", n_wires, len(circuit.a))
    rows = b"".join(row(x) for abc in zip(circuit.a, circuit.b, circuit.c, strict=True) for x in abc)
    labels = b"".join(struct.pack("<Q", wire) for wire in range(n_wires))
    return binary_file(b"r1cs", 1, {1: header, 2: rows, 3: labels})


def wtns_bytes(circuit: Circuit) -> bytes:
    """The witness as iden3's specification of the wtns binary format, version 2, lays it out."""
    header = struct.pack("<I", 32) + circuit.modulus.to_bytes(32, "little")
    header += struct.pack("<I", len(circuit.witness))
    return binary_file(
        b"wtns", 2, {1: header, 2: b"".join(v.to_bytes(32, "little") for v in circuit.witness)}
    )


def binary_file(magic: bytes, version: int, sections: dict[int, bytes]) -> bytes:
    body = b"".join(struct.pack("<IQ", kind, len(data)) + data for kind, data in sections.items())
    return magic + struct.pack("<II", version, len(sections)) + body


@dataclass(frozen=True)
class Toxic:
    tau: int
    alpha: int
    beta: int
    delta: int


@dataclass(frozen=True)
class KeyExponents:
    """What the generators are multiplied by in the key: snarkjs's conventions, gamma = 1."""

    a: list[int]
    b: list[int]
    ic: list[int]
    c: list[int]
    h: list[int]


def primitive_root(size: int, modulus: int) -> int:
    """snarkjs's root of unity of this order: a power of the least quadratic non-residue."""
    non_residue = next(x for x in range(2, 100) if pow(x, (modulus - 1) // 2, modulus) == modulus - 1)
    odd, two_adicity = modulus - 1, 0
    while odd % 2 == 0:
        odd, two_adicity = odd // 2, two_adicity + 1
    return pow(non_residue, odd * 2**two_adicity // size, modulus)


def lagrange(points: list[int], at: int, modulus: int) -> list[int]:
    """The values at one place of the polynomials that are one on one point and zero on the others."""
    values = []
    for i, x in enumerate(points):
        numerator = denominator = 1
        for j, y in enumerate(points):
            if i != j:
                numerator = numerator * (at - y) % modulus
                denominator = denominator * (x - y) % modulus
        values.append(numerator * pow(denominator, -1, modulus) % modulus)
    return values


def columns_at_tau(circuit: Circuit, rows: list[Row], values: list[int]) -> list[int]:
    out = [0] * len(circuit.witness)
    for row, value in zip(rows, values, strict=False):
        for wire, coefficient in row.items():
            out[wire] = (out[wire] + coefficient * value) % circuit.modulus
    return out


def key_exponents(circuit: Circuit, toxic: Toxic) -> KeyExponents:
    r, size, first_private = circuit.modulus, circuit.domain_size, circuit.n_public + 1
    double_root = primitive_root(2 * size, r)
    double = [pow(double_root, i, r) for i in range(2 * size)]
    binding: list[Row] = [{wire: 1} for wire in range(first_private)]
    basis = lagrange(double[0::2], toxic.tau, r)
    a = columns_at_tau(circuit, circuit.a + binding, basis)
    b = columns_at_tau(circuit, circuit.b, basis)
    c = columns_at_tau(circuit, circuit.c, basis)
    k = [(toxic.beta * x + toxic.alpha * y + z) % r for x, y, z in zip(a, b, c, strict=True)]
    per_delta = pow(toxic.delta, -1, r)
    h = [x * per_delta % r for x in lagrange(double, toxic.tau, r)[1::2]]
    return KeyExponents(a, b, k[:first_private], [x * per_delta % r for x in k[first_private:]], h)


def proof_exponents(circuit: Circuit, toxic: Toxic, r: int, s: int) -> tuple[int, int, int]:
    """The paper's A, B, C; the quotient times its divisor is A(tau)·B(tau) - C(tau), no interpolation."""
    modulus, first_private = circuit.modulus, circuit.n_public + 1
    key, w = key_exponents(circuit, toxic), circuit.witness
    root = primitive_root(circuit.domain_size, modulus)
    basis = lagrange([pow(root, i, modulus) for i in range(circuit.domain_size)], toxic.tau, modulus)

    def inner(values: list[int], scalars: list[int]) -> int:
        return sum(x * y for x, y in zip(values, scalars, strict=True)) % modulus

    a_tau, b_tau = inner(key.a, w), inner(key.b, w)
    c_tau = inner(columns_at_tau(circuit, circuit.c, basis), w)
    a = (toxic.alpha + a_tau + r * toxic.delta) % modulus
    b = (toxic.beta + b_tau + s * toxic.delta) % modulus
    h_t = (a_tau * b_tau - c_tau) * pow(toxic.delta, -1, modulus)
    c = inner(key.c, w[first_private:]) + h_t + s * a + r * b - r * s * toxic.delta
    return a, b, c % modulus


def g1_point(curve: str, exponent: int) -> Any:
    """exponent·G1 as affine integers (x, y), None for the identity."""
    library = LIBRARIES[curve]
    point = library.multiply(library.G1, exponent)
    return None if library.is_inf(point) else tuple(int(x) for x in library.normalize(point))


def g2_point(curve: str, exponent: int) -> Any:
    """exponent·G2 as ((x0, x1), (y0, y1)), None for the identity."""
    library = LIBRARIES[curve]
    point = library.multiply(library.G2, exponent)
    if library.is_inf(point):
        return None
    return tuple(tuple(int(c) for c in x.coeffs) for x in library.normalize(point))


def verifies(curve: str, vk: dict[str, Any], public: list[int], proof: dict[str, Any]) -> bool:
    """The equation e(A, B) = e(alpha, beta)·e(vk_x, gamma)·e(C, delta) by py_ecc, from snarkjs's JSON."""
    library = LIBRARIES[curve]

    def g1(xyz: list[str]) -> Any:
        return tuple(library.FQ(int(x)) for x in xyz)

    def g2(xyz: list[list[str]]) -> Any:
        return tuple(library.FQ2([int(x) for x in pair]) for pair in xyz)

    vk_x = g1(vk["IC"][0])
    for point, signal in zip(vk["IC"][1:], public, strict=True):
        vk_x = library.add(vk_x, library.multiply(g1(point), signal))
    left = library.pairing(g2(proof["pi_b"]), g1(proof["pi_a"]))
    right = library.pairing(g2(vk["vk_beta_2"]), g1(vk["vk_alpha_1"]))
    right *= library.pairing(g2(vk["vk_gamma_2"]), vk_x)
    right *= library.pairing(g2(vk["vk_delta_2"]), g1(proof["pi_c"]))
    return bool(left == right)
