"""`cuzk verify`: check a proof by pairing."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.options import INPUT_FILE, check_inputs, leave, say


@click.command(short_help="Check proofs by pairing.")
@click.argument("vkey", type=INPUT_FILE, metavar="VK.json")
@click.argument("public", type=INPUT_FILE, metavar="PUBLIC.json")
@click.argument("proof", type=INPUT_FILE, metavar="PROOF.json")
@click.argument("more", type=INPUT_FILE, nargs=-1, metavar="[PUBLIC.json PROOF.json]...")
def verify(vkey: Path, public: Path, proof: Path, more: tuple[Path, ...]) -> None:
    """Check a proof against its verification key and public signals, or several proofs at once.

    Ten proofs under one key take about as long as two. Prints OK and ends with 0 if all are valid; names each
    that is not, says why, and ends with 1 otherwise. Files that cannot be read as what they should be end
    with 2.
    """
    if len(more) % 2:
        raise click.UsageError(f"{more[-1]} has no proof: give PUBLIC.json and PROOF.json of each, in turn")
    publics, proofs = (public, *more[0::2]), (proof, *more[1::2])
    check_inputs(vkey, *publics, *proofs)

    from engine.compiling import compile_once
    from groth16.errors import InputError
    from groth16.json_files import read_json
    from groth16.points_json import parse_head
    from groth16.proof import read_proof, read_public
    from groth16.verification_key import read_verification_key
    from groth16.verifier import REFUSAL, check_signals, find_invalid

    curve = parse_head(vkey, read_json(vkey), ())
    compile_once("verify", curve.name, say)
    key = read_verification_key(vkey)
    claims = [(read_public(p, key.curve), read_proof(q)) for p, q in zip(publics, proofs, strict=True)]
    for path, claim in zip(proofs, claims, strict=True):
        try:
            check_signals(key, *claim)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
    if invalid := find_invalid(key, claims):
        for index in invalid:
            print(f"cuzk: {proofs[index]}: not valid: {REFUSAL}", file=sys.stderr)
        sys.exit(1)
    print("OK")
    leave()
