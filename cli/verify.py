"""`cuzk verify`: check a proof by pairing."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.options import INPUT_FILE, check_inputs, leave


@click.command(short_help="Check a proof by pairing.")
@click.argument("vkey", type=INPUT_FILE, metavar="VK.json")
@click.argument("public", type=INPUT_FILE, metavar="PUBLIC.json")
@click.argument("proof", type=INPUT_FILE, metavar="PROOF.json")
def verify(vkey: Path, public: Path, proof: Path) -> None:
    """Check a proof against its verification key and public signals.

    Prints OK and ends with 0 if the proof is valid; says why and ends with 1 if it is not.
    Files that cannot be read as what they should be end with 2.
    """
    check_inputs(vkey, public, proof)

    from groth16.errors import VerificationFailed
    from groth16.proof import read_proof, read_public
    from groth16.verification_key import read_verification_key
    from groth16.verifier import verify as check

    key = read_verification_key(vkey)
    try:
        check(key, read_public(public, key.curve), read_proof(proof))
    except VerificationFailed as error:
        print(f"cuzk: {proof}: not valid: {error}", file=sys.stderr)
        sys.exit(1)
    print("OK")
    leave()
