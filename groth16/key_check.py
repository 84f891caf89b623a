"""Checks of what a proving key's long arrays hold."""

from __future__ import annotations

from groth16.limbs import first_not_below
from groth16.zkey import POINT_SECTIONS, Points, ProvingKey
from kernels.cpu.curve import first_not_on_curve
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


def _first_off_curve(group: Group, points: Points, run: Run) -> int:
    parts = min(4 * threads_of(run), 1 + len(points) // _FEWEST_POINTS)
    found = run(
        first_not_on_curve, [(group, points, start, stop) for start, stop in chunks(len(points), parts)]
    )
    return min((index for index in found if index >= 0), default=-1)
