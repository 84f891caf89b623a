"""`cuzk doctor`: what this machine offers, what of it is used, and why."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from cli.options import conclude, config_option, json_option


@click.command(short_help="Tell which processors, GPUs, memory and folders are used, and why.")
@config_option
@json_option
def doctor(config_path: Path | None, as_json: bool) -> None:
    """Look at this machine and the settings, and tell what proofs would be made with.

    Status 1 if something keeps proofs from being made.
    """
    from config import load_config, settings_file
    from engine.doctor import examine

    findings = examine(load_config(config_path), config_path or settings_file())
    if as_json:
        conclude(json.dumps([asdict(each) for each in findings]))
    else:
        marks = {True: "!", False: " "}
        conclude("\n".join(f"{marks[each.problem]} {each.name:<12}{each.text}" for each in findings))
    sys.exit(any(each.problem for each in findings))
