"""`cuzk-bench`: the same commands under the names and flags of the public program.

Flags that mean nothing here are taken all the same, so that its command lines work.
"""

# ruff: noqa: ARG001

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cli.bench import COMMANDS
from cli.bench.daemon_options import PublicProgram
from cli.bench.partitions import Numbers, partitions
from cli.bench.pce import pce
from cli.bench.synth import synth
from cli.options import config_option, with_options
from config.bounds import MOST, MOST_PROOFS

ADDRESS = "http://127.0.0.1:9820"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="cuzk", prog_name="cuzk-bench")
@click.option(
    "--addr",
    "-a",
    default=ADDRESS,
    show_default=True,
    metavar="ADDRESS",
    help='The daemon\'s, as "http://HOST:PORT" or "unix:///PATH".',
)
@click.option(
    "--log-level", type=click.Choice(["trace", "debug", "info", "warn", "error"]), default="info",
    help="Taken as the public program does; what is said is the same at every level.",
)  # fmt: skip
@click.pass_context
def cuzk_bench(context: click.Context, addr: str, log_level: str) -> None:
    """Measure a daemon, and synthesis by itself. The same as `cuzk bench`, where --addr goes first."""
    context.obj = PublicProgram(addr)


ALIAS_OPTIONS = (
    click.option("--c1", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Input."),
    click.option("--sector-num", type=click.IntRange(min=0), default=1, help="Its sector; not needed here."),
    click.option("--miner-id", type=click.IntRange(min=0), default=1000, help="Its miner; not needed here."),
    click.option(
        "--type", "-t", "circuit", metavar="NAME", default="porep", show_default=True,
        help="A circuit, or the kind that the settings have one for.",
    ),
    config_option,
)  # fmt: skip


def alias_options(command: Any) -> Any:
    """What the public program says of a proof in its own process."""
    return with_options(command, ALIAS_OPTIONS)


@cuzk_bench.command("pce-bench", short_help="As pce, of the circuit configured for porep.")
@click.option("--save-pce", type=click.Path(path_type=Path), metavar="FILE", help="Keep the matrices.")
@click.option("--validate", type=click.BOOL, default=True, show_default=True, help="Compare both ways.")
@alias_options
@click.pass_context
def pce_bench(context: click.Context, save_pce: Path | None, validate: bool, **about: Any) -> None:
    """Compare synthesis by matrices with constraint by constraint, once."""
    context.invoke(pce, **_here(about), iterations=1, save_pce=save_pce, validate=validate, as_json=False)


@cuzk_bench.command("pce-pipeline", short_help="As synth, of the circuit configured for porep.")
@click.option("--num-proofs", "-n", type=click.IntRange(1, MOST_PROOFS), default=3, show_default=True)
@click.option("--parallel", "-j", type=click.IntRange(0, MOST), default=0, show_default=True,
              help="Syntheses at once: see `partitions`; 0 is one after the other.")  # fmt: skip
@click.option("--compare-old", is_flag=True, help="Constraint by constraint as well: see `pce`.")
@alias_options
@click.pass_context
def pce_pipeline(
    context: click.Context, num_proofs: int, parallel: int, compare_old: bool, **about: Any
) -> None:
    """Synthesize by matrices again and again, each result gone before the next."""
    if parallel > 1:
        raise click.UsageError(
            f"--parallel {parallel}: syntheses side by side are part of whole proofs here; "
            f"use slotted-bench --slot-sizes {parallel}"
        )
    here = _here(about)
    if compare_old:
        context.invoke(pce, **here, iterations=1, save_pce=None, validate=True, as_json=False)
    context.invoke(synth, **here, iterations=num_proofs, as_json=False)


@cuzk_bench.command("slotted-bench", short_help="As partitions, of the circuit configured for porep.")
@click.option("--slot-sizes", type=Numbers(), default=(1, 2, 3, 10), show_default="1,2,3,10")
@click.option("--num-proofs", "-n", type=click.IntRange(1, MOST_PROOFS), default=1, show_default=True)
@alias_options
@click.pass_context
def slotted_bench(
    context: click.Context, slot_sizes: tuple[int | None, ...], num_proofs: int, **about: Any
) -> None:
    """Prove ten partitions under several numbers of them at once."""
    here = _here(about)
    if here["inputs"] is not None:
        raise click.UsageError(
            "--c1: slotted-bench proves the circuit's own input here; set it in the settings as "
            f"circuits.{here['circuit']}.witness or .inputs, and give --c1 /dev/null"
        )
    context.invoke(
        partitions,
        circuit=here["circuit"],
        at_once=slot_sizes,
        partitions=10,
        proofs=num_proofs,
        budget=None,
        config_path=here["config_path"],
        as_json=False,
    )


@cuzk_bench.command("synth-only", short_help="As synth, of the circuit configured for porep.")
@click.option("--iterations", "-n", type=click.IntRange(1, MOST_PROOFS), default=1, show_default=True)
@click.option("--partition", type=click.IntRange(0), help="One of them; a circuit here is one partition.")
@alias_options
@click.pass_context
def synth_only(context: click.Context, iterations: int, partition: int | None, **about: Any) -> None:
    """Time synthesis alone."""
    context.invoke(synth, **_here(about), iterations=iterations, as_json=False)


@cuzk_bench.command(
    "gen-vanilla", context_settings={"ignore_unknown_options": True}, short_help="Not part of this program."
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def gen_vanilla(arguments: tuple[str, ...]) -> None:
    """Vanilla proofs are made of sealed sectors, by Filecoin's own libraries."""
    raise click.UsageError(
        "gen-vanilla makes Filecoin's vanilla proofs of sealed sectors, which this program does not; "
        "make them with the public cuzk-bench, or give the circuit's witness (.wtns) or inputs (.json)"
    )


for command in COMMANDS:
    cuzk_bench.add_command(command)


def _here(about: dict[str, Any]) -> dict[str, Any]:
    """A circuit of the settings in place of a kind, and the input that the circuit takes."""
    from bench.here import circuit_here, input_here
    from config import load_config

    config = load_config(about["config_path"], warn=lambda _: None)
    name = circuit_here(about["circuit"], config)
    return {
        "circuit": name,
        "inputs": input_here(about["c1"]),
        "threads": None,
        "config_path": about["config_path"],
    }
