"""Whether a circuit's file can be the key's, as far as their heads tell."""

from __future__ import annotations

from pathlib import Path

from groth16.errors import InputError
from groth16.r1cs import read_r1cs_header
from groth16.zkey import KeyHeader


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
