"""`cuzk verify`: check proofs by pairing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from cli.options import INPUT_FILE, check_inputs, leave, look_for_no_garbage, say
from groth16.errors import InputError

if TYPE_CHECKING:
    from groth16.proof import Proof
    from groth16.verification_key import VerificationKey
    from groth16.verifier import Claim

T = TypeVar("T")
INVALID, MALFORMED = 1, 2  # exit statuses


@click.command(short_help="Check proofs by pairing.")
@click.argument("vkey", type=INPUT_FILE, metavar="VK.json")
@click.argument("public", type=INPUT_FILE, metavar="PUBLIC.json")
@click.argument("proof", type=INPUT_FILE, metavar="PROOF.json")
@click.argument("more", type=INPUT_FILE, nargs=-1, metavar="[PUBLIC.json PROOF.json]...")
def verify(vkey: Path, public: Path, proof: Path, more: tuple[Path, ...]) -> None:
    """Check a proof against its verification key and public signals, or several proofs at once.

    Ten proofs under one key take about as long as two. Prints OK and ends with 0 if all are valid. Otherwise
    names each that is not and says why, and ends with 1; or with 2 if a file cannot be read as what it should
    be.
    """
    if len(more) % 2:
        raise click.UsageError(f"{more[-1]} has no proof: give PUBLIC.json and PROOF.json of each, in turn")
    publics, proofs = (public, *more[0::2]), (proof, *more[1::2])
    check_inputs(streams=[vkey, *publics, *proofs])
    look_for_no_garbage()

    from engine.compiling import compile_once
    from groth16.json_files import read_json
    from groth16.points_json import parse_head
    from groth16.verification_key import parse_verification_key
    from groth16.verifier import REFUSAL, find_invalid

    value = read_json(vkey)  # once: it may come from a pipe
    curve = parse_head(vkey, value, ())
    compile_once("verify", curve.name, say)
    key = parse_verification_key(vkey, value)
    claims, refusals = _read_claims(key, zip(publics, proofs, strict=True))
    invalid = find_invalid(key, [claim for _, claim in claims])
    for line in [*refusals, *(f"{claims[index][0]}: not valid: {REFUSAL}" for index in invalid)]:
        say(f"cuzk: {line}")
    if refusals or invalid:
        sys.exit(MALFORMED if refusals else INVALID)
    print("OK")
    leave()


def _read_claims(
    key: VerificationKey, pairs: Iterable[tuple[Path, Path]]
) -> tuple[list[tuple[Path, Claim]], list[str]]:
    """What can be checked, each with the path of its proof; and a line for each file that is malformed."""
    claims: list[tuple[Path, Claim]] = []
    refusals: dict[str, None] = {}  # a file may be given several times
    for public_path, proof_path in pairs:
        signals = _attempt(_read_signals, key, public_path, refusals)
        proof = _attempt(_read_proof, key, proof_path, refusals)
        if signals is not None and proof is not None:
            claims.append((proof_path, (signals, proof)))
    return claims, list(refusals)


def _attempt(
    read: Callable[[VerificationKey, Path], T], key: VerificationKey, path: Path, refusals: dict[str, None]
) -> T | None:
    """What is in the file; None with a line in `refusals` where it is malformed."""
    try:
        return read(key, path)
    except InputError as error:
        line = str(error)
        refusals[line if line.startswith(f"{path}: ") else f"{path}: {line}"] = None
        return None


def _read_signals(key: VerificationKey, path: Path) -> list[int]:
    from groth16.proof import read_public
    from groth16.verifier import check_signals

    signals = read_public(path, key.curve)
    check_signals(key, signals)
    return signals


def _read_proof(key: VerificationKey, path: Path) -> Proof:
    from groth16.proof import read_proof
    from groth16.verifier import check_curve

    proof = read_proof(path)
    check_curve(key, proof)
    return proof
