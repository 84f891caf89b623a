"""Options that all questions to the simulator share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import INPUT_FILE, OUTPUT_FILE, json_option, with_options
from config.bounds import MOST, MOST_PROOFS
from groth16.output import check_outputs

if TYPE_CHECKING:
    from flows.study.questions import QuestionParameters

POLICY = "budget"
SEEDS = 5


def check_policy(_context: click.Context, _option: click.Parameter, policy: str | None) -> str | None:
    """Refuse what is no policy, in the words of the simulator."""
    if policy not in (None, POLICY):  # importing takes long, and the default is right
        from sim import fixed_at_once

        fixed_at_once(str(policy))
    return policy


QUESTION_OPTIONS = (
    click.option(
        "--workload", "-w", metavar="FILE", help="What is to be proved: a TOML file, or a bundled one's name."
    ),
    click.option(
        "--type", "-t", "circuit", metavar="NAME", help="Instead: a batch of this circuit, a closed loop."
    ),
    click.option("--count", "-c", type=click.IntRange(1, MOST_PROOFS), help="Proofs of it (default: 3)."),
    click.option("--concurrency", "-j", type=click.IntRange(1, MOST), help="At a time (default: 3)."),
    click.option("--partitions", type=click.IntRange(1, MOST), help="Of each (default: the circuit's)."),
    click.option(
        "--priority",
        type=click.Choice(["critical", "high", "normal", "low"]),
        help="Of the batch (default: the circuit's).",
    ),
    click.option(
        "--machine", "-m", "--profile", metavar="NAME", default="default", show_default=True,
        help="A machine of `cuzk sim profiles`, or a TOML file.",
    ),
    click.option(
        "--budget", metavar="SIZE", help="Memory for everything (default: what the machine gives)."
    ),
    click.option(
        "--policy", callback=check_policy, metavar="POLICY",
        help=f'Admission: "{POLICY}", or "fixed:N" (default: {POLICY}).',
    ),
    click.option(
        "--set", "settings", multiple=True, metavar="KEY=VALUE",
        help="Change a setting, such as machine.gpus=2; may be repeated.",
    ),
    click.option(
        "--seeds", type=click.IntRange(1, 1_000), default=SEEDS, show_default=True,
        help="Runs by different seeds, for the error bars.",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first seed."),
    click.option(
        "--config", type=INPUT_FILE, metavar="FILE",
        help="Configuration file (default: $CUZK_CONFIG, else ./cuzk.toml if it is there).",
    ),
)  # fmt: skip
late_option = click.option(
    "--late",
    default="0%",
    show_default=True,
    metavar="PERCENT",
    help="Of the deadlines, that may be missed, as 1%.",
)
json_and_csv = (
    json_option,
    click.option("--csv", "csv_file", type=OUTPUT_FILE, metavar="FILE", help="Write the figures as CSV too."),
)


def question_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that ask a question; the command gets them as QuestionParameters."""

    @functools.wraps(command)
    def gather(**options: Any) -> None:
        from flows.study.questions import QuestionParameters

        own = {name: options.pop(name) for name in options.keys() - QuestionParameters.model_fields.keys()}
        _check_one_kind(options)
        given = {name: value for name, value in options.items() if value is not None}
        command(QuestionParameters(**given | {"settings": list(given["settings"])}), **own)

    return with_options(gather, QUESTION_OPTIONS)


def _check_one_kind(options: dict[str, Any]) -> None:
    if options["workload"] is None and options["circuit"] is None:
        raise click.UsageError("nothing to simulate: give --workload FILE, or --type NAME for a batch")
    of_a_batch = ("circuit", "count", "concurrency", "partitions", "priority")
    both = [name for name in of_a_batch if options["workload"] is not None and options[name] is not None]
    if both:
        name = "type" if both[0] == "circuit" else both[0]
        raise click.UsageError(f"--{name} is for a batch, and --workload says what is proved; leave one out")


def varied(text: str, option: str) -> dict[str, str]:
    """KEY=VALUE pairs, separated by blanks."""
    from sim.settings import read_settings

    if not text.split():
        raise click.UsageError(f"{option} is empty: expected KEY=VALUE, such as machine.gpus=2")
    return read_settings(text.split(), option)


def check_files(parameters: QuestionParameters, *outputs: Path | None) -> None:
    """Refuse, before the work, outputs that cannot be written, and those that the question is read from."""
    from flows.study.inputs import inputs_of

    named = [path for path in outputs if path is not None]
    check_outputs(named, inputs_of(parameters) if named else [])
