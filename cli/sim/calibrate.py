"""`cuzk sim calibrate`: a machine's profile from recorded runs, or from published figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.history.options import opened, place_of
from cli.options import INPUT_FILE, OUTPUT_FILE, config_option, say
from groth16.output import check_outputs, replacing

if TYPE_CHECKING:
    from sim import MachineProfile


@click.command(short_help="Learn a machine's profile from recorded runs, or from published figures.")
@click.argument("runs", nargs=-1, metavar="[RUN]…")
@click.option("--table", type=INPUT_FILE, metavar="FILE", help="Published figures as JSON, instead of runs.")
@click.option(
    "--machine",
    "-m",
    default="default",
    show_default=True,
    metavar="NAME",
    help="What the runs do not tell: hosts, prices, times of other circuits.",
)
@click.option("--name", default="learned", show_default=True, help="The profile's.")
@click.option("--output", "-o", type=OUTPUT_FILE, required=True, metavar="FILE", help="The profile, as TOML.")
@config_option
def calibrate(
    config_path: Path | None, runs: tuple[str, ...], table: Path | None, machine: str, name: str, output: Path
) -> None:  # fmt: skip
    """Write a profile from the real runs RUN, or from the newest that went well.

    Each stage's times are found as if it had run alone, and how much stages slow each other down beside
    them; memory is what the process took beside what its work took. What rests on little is told.
    """
    from flows.study.inputs import settings_inputs
    from sim import load_profile
    from sim.profile import profile_path

    if table is not None and runs:
        raise click.UsageError("--table and runs are given, expected one of them")
    inputs = [profile_path(machine), *([table] if table is not None else settings_inputs(config_path))]
    check_outputs([output], inputs)
    base = load_profile(machine)
    profile = _published(table, base, name) if table is not None else _learned(config_path, runs, base, name)
    text = _text(profile)
    with replacing(output) as file:
        file.write(text.encode())
    print(f"profile  {output}; simulate with it: cuzk sim run --machine {output} …")


def _text(profile: MachineProfile) -> str:
    from sim.quantities import IN_A_FILE
    from sim.toml_text import toml_text

    return toml_text(profile.model_dump(mode="json", context=IN_A_FILE), [profile.about])


def _learned(
    config_path: Path | None, runs: tuple[str, ...], base: MachineProfile, name: str
) -> MachineProfile:
    from sim.calibrate import calibrate as learn
    from sim.recorded import read_examples

    with opened(place_of(config_path)) as history:
        examples = read_examples(history, runs, newest=1)
    say(f"learning from {', '.join(each.run_id for each in examples)}")
    learned = learn(examples, base, name, examples[0].cores)
    for line in learned.thin:
        say(f"thin: {line}")
    return learned.profile


def _published(table: Path, base: MachineProfile, name: str) -> MachineProfile:
    from engine.words import telling
    from sim.calibrate_published import calibrate_published, leave_one_out
    from sim.published import read_published

    figures, words = read_published(table), ["fitting memory"]
    with telling(say, lambda: words[-1]):
        profile = calibrate_published(figures, base, name, progress=words.append)
        for row, errors in leave_one_out(figures, base, words.append):
            text = ", ".join(f"{figure} {error:+.1%}" for figure, error in errors.items())
            say(f"without the row of {row.partition_workers} and {row.gpu_workers} workers: {text} on it")
    return profile
