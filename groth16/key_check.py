"""Checks of the points that a proving key holds."""

from __future__ import annotations

import numpy as np

from groth16.limbs import first_not_below
from groth16.zkey import POINT_SECTIONS, KeyHeader, Points, ProvingKey, read_head_points
from kernels.cpu.curve import first_not_on_curve, in_subgroup, negate_point
from kernels.cpu.pairing import pairing_product_is_one
from kernels.encoding import encode_points
from kernels.fields import Group
from kernels.parallel import Run, chunks, threads_of

_FEWEST_POINTS = 1 << 12


def check_points(key: ProvingKey, run: Run) -> None:
    """Raise InputError, naming section and index, for a coordinate not reduced or a point off the curve.

    Worth its time when a key is first read, not for every proof.
    Membership in the prime-order subgroup is not checked: it costs as much as a proof, and a proof made with
    such a point does not verify.
    """
    curve = key.header.curve
    _head_on_curves(key.header)
    for name, number in POINT_SECTIONS.items():
        points: Points = getattr(key, name)
        group = curve.g2 if name == "b_g2" else curve.g1
        if (row := first_not_below(points.reshape(-1, curve.fq.limbs), curve.fq.modulus)) is not None:
            index = row * len(points) // (points.size // curve.fq.limbs)
            raise key.header.container.wrong(
                number, f"has a coordinate not below the modulus in point {index}"
            )
        if (index := _first_off_curve(group, points, run)) >= 0:
            raise key.header.container.wrong(
                number, f"has a point {index} that is not on {group.name}'s curve"
            )


def check_head(header: KeyHeader) -> None:
    """Raise InputError, by name, for a point of the head that is none of its subgroup, or not its twin's.

    beta and delta are in G1 and in G2: e(beta_1, G2) = e(G1, beta_2). Takes some milliseconds.
    """
    curve, points = header.curve, _head_on_curves(header)
    for name, point in points.items():
        group = _group_of(header, name)
        if not in_subgroup(group, point):
            raise header.container.wrong(2, f"has a point {name} outside the subgroup of {group.name}")
    one, two = (encode_points(group, [group.generator])[0] for group in (curve.g1, curve.g2))
    for name in ("beta", "delta"):
        p = np.stack([points[f"{name}_g1"], negate_point(curve.g1, one)])
        q = np.stack([two, points[f"{name}_g2"]])
        if not pairing_product_is_one(curve, p, q):
            raise header.container.wrong(2, f"has another {name} in G1 than in G2")


def _head_on_curves(header: KeyHeader) -> dict[str, Points]:
    """The head's points. Raises InputError for one that is not on its curve."""
    points = read_head_points(header)
    for name, point in points.items():
        group = _group_of(header, name)
        if first_not_on_curve(group, point[np.newaxis], 0, 1) >= 0:
            raise header.container.wrong(2, f"has a point {name} that is not on {group.name}'s curve")
    return points


def _group_of(header: KeyHeader, name: str) -> Group:
    return header.curve.g2 if name.endswith("_g2") else header.curve.g1


def _first_off_curve(group: Group, points: Points, run: Run) -> int:
    parts = min(4 * threads_of(run), 1 + len(points) // _FEWEST_POINTS)
    found = run(
        first_not_on_curve, [(group, points, start, stop) for start, stop in chunks(len(points), parts)]
    )
    return min((index for index in found if index >= 0), default=-1)
