"""Proving keys in snarkjs's .zkey format for Groth16: the SRS and, in one section, the matrices A and B.

Layout (snarkjs, zkey_utils): section 1 the protocol u32 (1); 2 the header: byte length and modulus of Fq, the
same of Fr, wires u32, public signals u32, domain size u32, then alpha_1, beta_1, beta_2, gamma_2, delta_1,
delta_2; 3 IC; 4 coefficients (see `matrices`); 5 to 9 the points A, B_1, B_2, C, H. Points are affine, in
Montgomery form, infinity all zeros: in memory as in the file, and so used where the file is mapped.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groth16 import sizes
from groth16.container import Container, read_container
from groth16.errors import InputError
from groth16.limbs import expect_modulus, first_not_below, scalar_field_in_head
from groth16.witness import Witness
from kernels.fields import Curve, Group

if TYPE_CHECKING:
    from kernels.cpu.tables import Table

Points = NDArray[np.uint64]

_SECTIONS = {
    1: "protocol",
    2: "header",
    3: "IC points",
    4: "coefficients",
    5: "A points",
    6: "B points in G1",
    7: "B points in G2",
    8: "C points",
    9: "H points",
}
POINT_SECTIONS = {"ic": 3, "a": 5, "b_g1": 6, "b_g2": 7, "c": 8, "h": 9}
_PROTOCOLS = {1: "Groth16", 2: "PLONK", 10: "FFLONK"}
_GROTH16 = 1
COEFFICIENT_BYTES = 44
_COUNTS = struct.Struct("<III")


@dataclass(frozen=True)
class KeyHeader:
    """What a key's head says.

    n_variables counts wire 0, n_public does not; n_coefficients are A's and B's terms together.
    """

    curve: Curve
    n_variables: int
    n_public: int
    domain_size: int
    n_coefficients: int
    container: Container = field(repr=False)
    points_start: int = field(repr=False)  # of the header section's points, in bytes

    @property
    def path(self) -> Path:
        return self.container.path

    @property
    def file_bytes(self) -> int:
        return self.container.file_bytes

    @cached_property
    def srs_bytes(self) -> int:
        """The key's points in memory."""
        return sizes.srs_bytes(self)

    @cached_property
    def pce_bytes(self) -> int:
        """The key's matrices and the roots of its domain in memory."""
        return sizes.pce_bytes(self)


@dataclass(frozen=True)
class KeyPoints:
    """A key's points: uint64 limbs, Montgomery, affine, infinity all zeros; L limbs of Fq.

    alpha_g1, beta_g1, delta_g1: (2, L); beta_g2, gamma_g2, delta_g2: (2, 2, L); ic: (n_public + 1, 2, L);
    a, b_g1: (n_variables, 2, L); b_g2: (n_variables, 2, 2, L); c: (n_variables − n_public − 1, 2, L), of the
    private wires; h: (domain_size, 2, L), the odd half of the Lagrange basis of the double domain over delta.
    """

    alpha_g1: Points
    beta_g1: Points
    beta_g2: Points
    gamma_g2: Points
    delta_g1: Points
    delta_g2: Points
    ic: Points
    a: Points
    b_g1: Points
    b_g2: Points
    c: Points
    h: Points


@dataclass(frozen=True)
class ProvingKey(KeyPoints):
    """A key read from a file; its long arrays are mapped, and read from disk when they are first used.

    h_table: multiples of h, which take its place in sums.
    """

    header: KeyHeader
    h_table: Table | None = None


def read_header(path: str | Path) -> KeyHeader:
    """Read a key's head and check every section's size against it; the points are not touched.

    Raises InputError for a file that is no Groth16 .zkey of a supported curve, is damaged, or whose domain is
    no power of two or more than half of what the field allows (the quotient needs the double domain).
    """
    container = read_container(path, "zkey", 1, _SECTIONS)
    protocol = int.from_bytes(container.read(1, 0, 4), "little")
    if protocol != _GROTH16:
        name = _PROTOCOLS.get(protocol, f"protocol {protocol}")
        raise InputError(
            f"{container.path}: is a key for {name}, expected Groth16: make one with `cuzk setup`"
        )
    q_bytes = int.from_bytes(container.read(2, 0, 4), "little")
    curve, position = scalar_field_in_head(container, 2, 4 + q_bytes)
    q = int.from_bytes(container.read(2, 4, 4 + q_bytes), "little")
    expect_modulus(q, curve.fq, f"{container.path}: the base field")
    points_start = position + _COUNTS.size
    wires, public, domain_size = _COUNTS.unpack(container.read(2, position, points_start))
    terms = int.from_bytes(container.read(4, 0, 4), "little")
    header = KeyHeader(curve, wires, public, domain_size, terms, container, points_start)
    _check_counts(header)
    _check_sizes(header)
    return header


def _check_counts(header: KeyHeader) -> None:
    size, largest = header.domain_size, header.curve.fr.two_adicity - 1
    if size < 2 or size & (size - 1):
        raise header.container.wrong(2, f"names a domain of {size}, expected a power of two")
    if size > 1 << largest:
        raise header.container.wrong(2, f"names a domain of {size}, {header.curve.name} allows 2^{largest}")
    if header.n_public + 1 > min(header.n_variables, size):
        raise header.container.wrong(
            2, f"counts {header.n_public} public signals of {header.n_variables} wires in a domain of {size}"
        )


def _check_sizes(header: KeyHeader) -> None:
    curve, container = header.curve, header.container
    g1_bytes, g2_bytes = curve.g1.point_bytes, curve.g2.point_bytes
    container.expect_bytes(2, header.points_start + 3 * g1_bytes + 3 * g2_bytes)
    container.expect_bytes(4, 4 + COEFFICIENT_BYTES * header.n_coefficients)
    for number, (count, group) in _point_sections(header).items():
        container.expect_bytes(number, count * group.point_bytes)


def _point_sections(header: KeyHeader) -> dict[int, tuple[int, Group]]:
    """Number of points and group of each section of points."""
    g1, g2, wires = header.curve.g1, header.curve.g2, header.n_variables
    n_private = wires - header.n_public - 1
    return {
        3: (header.n_public + 1, g1),
        5: (wires, g1),
        6: (wires, g1),
        7: (wires, g2),
        8: (n_private, g1),
        9: (header.domain_size, g1),
    }


def read_points(header: KeyHeader, number: int) -> Points:
    """One section of points, mapped: read-only, and unaligned in some files (see `container`)."""
    count, group = _point_sections(header)[number]
    return header.container.map_array(number, (count, *group.point_shape))


def read_head_points(header: KeyHeader) -> dict[str, Points]:
    """alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1 and delta_g2, copied out of the header.

    Raises InputError for a coordinate that is not below the modulus.
    """
    g1, g2, limbs = header.curve.g1, header.curve.g2, header.curve.fq.limbs
    words = np.frombuffer(bytearray(header.container.read(2, header.points_start)), np.uint64)
    if first_not_below(words.reshape(-1, limbs), header.curve.fq.modulus) is not None:
        raise header.container.wrong(2, "has a point with a coordinate not below the modulus")
    points, position = {}, 0
    names = {"alpha_g1": g1, "beta_g1": g1, "beta_g2": g2, "gamma_g2": g2, "delta_g1": g1, "delta_g2": g2}
    for name, group in names.items():
        stop = position + group.point_bytes // 8
        points[name] = words[position:stop].reshape(group.point_shape)
        position = stop
    return points


def read_proving_key(path: str | Path) -> ProvingKey:
    """Open a key; its long arrays are mapped, read-only, and unaligned in some files (see `container`).

    Raises InputError as `read_header` does. The long arrays' points are not checked here (see `key_check`).
    """
    header = read_header(path)
    points = {name: read_points(header, number) for name, number in POINT_SECTIONS.items()}
    return ProvingKey(header=header, h_table=None, **read_head_points(header), **points)


def check_pair(header: KeyHeader, witness: Witness) -> None:
    """Raise InputError unless a witness can belong to a key: same curve, as many values as wires."""
    if witness.curve is not header.curve:
        raise InputError(
            f"{header.path}: the key is on the curve {header.curve.name}, the witness on "
            f"{witness.curve.name}: take both from one compilation of the circuit"
        )
    if len(witness.values) != header.n_variables:
        raise InputError(
            f"{header.path}: the key is for {header.n_variables} wires, the witness has "
            f"{len(witness.values)} values: take both from one compilation of the circuit"
        )
