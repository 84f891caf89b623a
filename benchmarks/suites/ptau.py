"""A prepared powers-of-tau file, for snarkjs's setup to be timed with: its points are of no ceremony.

snarkjs takes Lagrange bases from it: in G1 those of the domain and of twice the domain, in G2, alpha·G1 and
beta·G1 those of the domain. Any points cost the same work, so they are a few multiples of the generators over
and over; the key that comes out is of no use.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groth16.container_writer import Payload, payload, write_container
from kernels.fields import Curve, Group

TAU_G1, TAU_G2, ALPHA_TAU_G1, BETA_TAU_G1, BETA_G2 = 2, 3, 4, 5, 6
LAGRANGE_G1, LAGRANGE_G2, LAGRANGE_ALPHA_G1, LAGRANGE_BETA_G1 = 12, 13, 14, 15


def write_ptau(
    path: Path, curve: Curve, log2_size: int, g1: NDArray[np.uint64], g2: NDArray[np.uint64]
) -> None:
    """For circuits with a domain of 2^log2_size.

    g1 (k, 2, L) and g2 (k, 2, 2, L): the points to repeat, Montgomery. Layout: snarkjs, powersoftau_utils.
    """
    q_bytes = curve.fq.element_bytes
    head = [q_bytes.to_bytes(4, "little"), curve.fq.modulus.to_bytes(q_bytes, "little")]
    power = log2_size.to_bytes(4, "little")
    levels = (2 << log2_size) - 1  # bases of 1, 2, 4, … points, up to the domain's
    sections = [
        payload(1, *head, power, power),
        *(_repeated(number, curve.g1, g1, 1) for number in (TAU_G1, ALPHA_TAU_G1, BETA_TAU_G1)),
        *(_repeated(number, curve.g2, g2, 1) for number in (TAU_G2, BETA_G2)),
        _repeated(LAGRANGE_G1, curve.g1, g1, (4 << log2_size) - 1),
        _repeated(LAGRANGE_G2, curve.g2, g2, levels),
        _repeated(LAGRANGE_ALPHA_G1, curve.g1, g1, levels),
        _repeated(LAGRANGE_BETA_G1, curve.g1, g1, levels),
    ]
    write_container(path, "ptau", 1, sections, aligned=False)


def _repeated(number: int, group: Group, points: NDArray[np.uint64], count: int) -> Payload:
    whole, rest = divmod(count, len(points))
    return Payload(number, count * group.point_bytes, [*[points] * whole, points[:rest]])
