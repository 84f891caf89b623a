"""How many field products the work takes, by formula: what the roofline is made of.

They are those of the best known method without regard to caches, so no kernel is faster than its products at
the rate of products in registers. A sum of points is taken by the bucket method with affine additions that
share inversions; a transform by butterflies of one product.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.circuits.shaped import Shape
from groth16.matrices import TERM
from groth16.witness import Witness
from groth16.zkey import POINT_SECTIONS, KeyHeader, read_points
from kernels.cpu.windows import window_count
from kernels.encoding import ints_to_limbs
from kernels.fields import Curve, Group

PRODUCTS_AN_ADDITION = 6  # affine, 1 of them a square, with 3 for its share of a common inversion
SHORT_BITS = 64
MOST_WINDOW_BITS = 24
Limbs = NDArray[np.uint64]
Products = dict[str, float]


@dataclass(frozen=True)
class Scalars:
    """How many scalars of a sum there are of each kind; zeros and points at infinity cost nothing."""

    ones: int
    short: int  # below 2^SHORT_BITS
    long: int


def msm_additions(n: int, scalar_bits: int) -> int:
    """Of a sum over n points with random scalars, in windows of as many bits as take the fewest.

    A window of c bits has signed digits, so 2^(c−1) buckets: every digit but zero adds a point to its bucket,
    or the bucket to a running sum, and every bucket that running sum to the window's.
    """
    return round(min(_additions(n, scalar_bits, bits) for bits in range(2, MOST_WINDOW_BITS + 1)))


def _additions(n: int, scalar_bits: int, window_bits: int) -> float:
    buckets = 1 << (window_bits - 1)
    return window_count(1 << scalar_bits, window_bits) * (n * (1 - 0.5 / buckets) + buckets)


def sum_additions(group: Group, scalars: Scalars) -> int:
    """Of a sum with scalars of several kinds, each kind a sum of its own."""
    return (
        max(0, scalars.ones - 1)
        + (msm_additions(scalars.short, SHORT_BITS) if scalars.short else 0)
        + (msm_additions(scalars.long, group.order.bit_length()) if scalars.long else 0)
    )


def msm_products(group: Group, scalars: Scalars) -> Products:
    return {group.field.name: PRODUCTS_AN_ADDITION * sum_additions(group, scalars)}


def ntt_products(log2_size: int) -> int:
    """A butterfly of one product for each pair of values on each level."""
    return log2_size * (1 << log2_size) // 2


def quotient_products(log2_size: int) -> int:
    """Three times back, to scale and forth, to the odd coset; then a·b − c, out of Montgomery form."""
    return 3 * (2 * ntt_products(log2_size) + (1 << log2_size)) + (2 << log2_size)


def synthesis_products(header: KeyHeader) -> int:
    """One a term of A and B with another coefficient than ±1, and one a row for the product of the two."""
    fr = header.curve.fr
    terms = np.frombuffer(header.container.read(4, 4), TERM)["coefficient"]
    units = ints_to_limbs([fr.montgomery_r2, fr.modulus - fr.montgomery_r2], fr.limbs)
    n_units = sum(int((terms == unit).all(axis=1).sum()) for unit in units)
    return len(terms) - n_units + header.domain_size


def proof_products(header: KeyHeader, witness: Witness) -> Products:
    """Of a whole proof: five sums, the quotient and synthesis. Not its verification, which is no longer for
    larger circuits."""
    curve, values = header.curve, witness.values
    private = values[header.n_public + 1 :]
    every = Scalars(0, 0, header.domain_size)
    return sum_products(
        [
            msm_products(curve.g1, kinds(points_of(header, "a"), values)),
            msm_products(curve.g1, kinds(points_of(header, "b_g1"), values)),
            msm_products(curve.g2, kinds(points_of(header, "b_g2"), values)),
            msm_products(curve.g1, kinds(points_of(header, "c"), private)),
            msm_products(curve.g1, every),
            {curve.fr.name: quotient_products(header.domain_size.bit_length() - 1)},
            {curve.fr.name: synthesis_products(header)},
        ]
    )


def shape_products(curve: Curve, shape: Shape, log2_size: int) -> Products:
    """Of a partition of this shape whose a and b are there: the quotient and the sums."""

    def scalars(n: int) -> Scalars:
        long = round(shape.significant * n)
        return Scalars((n - long) // 2, 0, long)

    return sum_products(
        [
            msm_products(curve.g1, scalars(shape.n_wires)),
            msm_products(curve.g1, scalars(shape.n_b_wires)),
            msm_products(curve.g2, scalars(shape.n_b_wires)),
            msm_products(curve.g1, scalars(shape.n_private)),
            msm_products(curve.g1, Scalars(0, 0, 1 << log2_size)),
            {curve.fr.name: quotient_products(log2_size)},
        ]
    )


def sum_products(parts: Iterable[Products]) -> Products:
    total: Products = {}
    for part in parts:
        for field, count in part.items():
            total[field] = total.get(field, 0) + count
    return total


def points_of(header: KeyHeader, name: str) -> Limbs:
    return read_points(header, POINT_SECTIONS[name])


def kinds(points: Limbs, values: Limbs) -> Scalars:
    """What there is in a witness to multiply with the points that are not infinity."""
    finite = points.reshape(len(points), -1).any(axis=1)
    is_long = values[:, 1:].any(axis=1)
    one, zero = ~is_long & (values[:, 0] == 1), ~is_long & (values[:, 0] == 0)
    counted = (finite & one, finite & ~is_long & ~one & ~zero, finite & is_long)
    return Scalars(*(int(each.sum()) for each in counted))
