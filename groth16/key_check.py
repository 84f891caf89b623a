"""Checks of a proving key: that a circuit's file is the key's, and what the key's long arrays hold."""

from __future__ import annotations

from pathlib import Path

from groth16.errors import InputError
from groth16.limbs import first_not_below
from groth16.r1cs import read_r1cs_header
from groth16.zkey import POINT_SECTIONS, KeyHeader, Points, ProvingKey
from kernels.cpu.curve import first_not_on_curve
from kernels.fields import Group
from kernels.parallel import Run, chunks, threads_of

_FEWEST_POINTS = 1 << 12


def check_circuit(header: KeyHeader, r1cs: Path) -> None:
    """Raise InputError unless an .r1cs's head can be of the key's circuit: same curve, as many wires."""
    circuit = read_r1cs_header(r1cs)
    found, expected = (
        f"{each.curve.name} with {wires} wires, {each.n_public} of them public"
        for each, wires in ((circuit, circuit.n_wires), (header, header.n_variables))
    )
    if found != expected:
        raise InputError(
            f"{r1cs}: is a circuit on {found}, expected {expected}, as {header.path} says: "
            "give the circuit that the key was made for"
        )


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
