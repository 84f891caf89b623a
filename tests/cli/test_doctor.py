"""`cuzk doctor` tells what proofs would be made with, and what keeps them from being made."""

import json
import os
from pathlib import Path

from tests.cli.conftest import Cuzk, refused, succeed


def test_it_tells_what_is_used(cuzk: Cuzk) -> None:
    findings = {each["name"]: each for each in json.loads(succeed(cuzk("doctor", "--json")))}
    assert not [each for each in findings.values() if each["problem"]]
    assert "the budget is" in findings["memory"]["text"]
    assert findings["settings"]["text"] == "defaults; there is no file"
    lines = succeed(cuzk("doctor")).splitlines()
    assert [line[2:14].strip() for line in lines] == list(findings)


def test_what_keeps_proofs_from_being_made_is_marked(cuzk: Cuzk, tmp_path: Path) -> None:
    settings = tmp_path / "cuzk.toml"
    settings.write_text("[gpus]\ndevices = [97]\n[memory]\ntotal_budget = '1000000GiB'\n")
    done = cuzk("doctor", "--config", str(settings))
    assert done.returncode == 1
    marked = [line for line in done.stdout.splitlines() if line.startswith("!")]
    assert [line.split()[1] for line in marked] == ["memory", "proofs"]
    assert "gpus.devices names GPU 97, but" in marked[1]
    assert str(settings) in done.stdout


def test_the_lanes_are_told_with_their_cause(cuzk: Cuzk) -> None:
    done = cuzk("doctor", env={**os.environ, "CUZK_LANES": "off"})
    assert "since CUZK_LANES is off" in succeed(done)


def test_bad_settings_are_refused(cuzk: Cuzk, tmp_path: Path) -> None:
    settings = tmp_path / "cuzk.toml"
    settings.write_text("[gpus]\ndevices = 'some'\n")
    assert "gpus.devices: found 'some'" in refused(cuzk("doctor", "--config", str(settings)))
