"""`cuzk prove`: one proof, in process, from files to a checked proof."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import (
    INPUT_FILE,
    OUTPUT_FILE,
    available_cores,
    check_inputs,
    conclude,
    json_option,
    leave,
    look_for_no_garbage,
    say,
    threads_option,
)

if TYPE_CHECKING:
    from engine.kept_files import KeptFiles


@click.command(short_help="Prove once, in this process, from files.")
@click.argument("zkey", type=INPUT_FILE, metavar="CIRCUIT.zkey")
@click.argument("witness", type=INPUT_FILE, metavar="WITNESS.wtns|INPUT.json")
@click.argument("proof", type=OUTPUT_FILE, metavar="[PROOF.json]", default="proof.json")
@click.argument("public", type=OUTPUT_FILE, metavar="[PUBLIC.json]", default="public.json")
@click.option(
    "--wasm", type=INPUT_FILE, metavar="FILE", help="circom's .wasm: computes the witness of INPUT.json."
)
@click.option(
    "--r1cs", type=INPUT_FILE, metavar="FILE", help="Names the constraint that a wrong witness breaks."
)
@click.option(
    "--device",
    type=click.IntRange(min=0),
    metavar="N",
    help="Prove on GPU N (default: on the processors; pays for large circuits).",
)
@threads_option
@json_option
def prove(
    zkey: Path,
    witness: Path,
    proof: Path,
    public: Path,
    wasm: Path | None,
    r1cs: Path | None,
    device: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Prove once and write the proof and its public signals as snarkjs does.

    The second file is a witness (.wtns) or, with --wasm, the input signals as JSON. The proof is
    checked by pairing before it is written; prints the seconds of each stage.
    """
    check_inputs(zkey, wasm, r1cs, *([] if wasm else [witness]), streams=[witness] if wasm else [])
    look_for_no_garbage()
    from engine.single import prove_files

    outcome = prove_files(
        zkey,
        witness,
        proof,
        public,
        wasm=wasm,
        r1cs=r1cs,
        derived=_derived_files(),
        threads=threads or available_cores(),
        gpu=device,
        report=say,
    )
    if as_json:
        conclude(json.dumps(outcome.as_dict()), proof, public)
        leave()
    lines = [f"{stage:<12}{seconds:9.3f} s" for stage, seconds in outcome.seconds.items()]
    lines.append(f"proof in {proof}, public signals in {public}; the proof is valid")
    conclude("\n".join(lines), proof, public)
    leave()


def _derived_files() -> KeptFiles:
    from config import DERIVED_LIMIT_BYTES, param_cache, settings_file
    from engine.catalog import derived_files

    if settings_file() is None:
        return derived_files(param_cache(), DERIVED_LIMIT_BYTES)
    from config import load_config  # what checks settings takes a tenth of a second to load

    srs = load_config().srs
    return derived_files(srs.param_cache, srs.derived_limit)
