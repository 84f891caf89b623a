"""`cuzk capacity`: what fits, in a table and for programs, and what bounds it."""

import json
import os
import re
from pathlib import Path

import pytest

from policy import Capacity
from tests.cli.conftest import Cuzk, Files, refused, succeed


@pytest.fixture
def settings(files: Files, tmp_path: Path) -> Path:
    """Two circuits with one key, two slots and two workers."""
    path, text = tmp_path / "cuzk.toml", "[pipeline]\nsynthesis_concurrency = 2\n[gpus]\ndevices = 'none'\n"
    for name in ("one", "other"):
        text += (
            f"[circuits.{name}]\nzkey = '{files.zkey}'\nwasm = '{files.wasm}'\ninputs = '{files.inputs}'\n"
        )
    path.write_text(text)
    return path


def asked(cuzk: Cuzk, settings: Path, *arguments: str) -> list[dict[str, int | str | None]]:
    found = json.loads(succeed(cuzk("capacity", "--config", settings, "--json", *arguments)))
    return list(found["circuits"])


def test_it_counts_what_fits_and_tells_the_bound(cuzk: Cuzk, settings: Path) -> None:
    one, other = asked(cuzk, settings, "--budget", "100GiB")
    assert (one["circuit"], one["bound"], one["at_once"]) == ("one", "slots", one["under_way"])
    assert one["under_way"] == 2 + 2 + 2 - 1  # prove, synthesize, and wait while one fewer waits than may
    assert one["entries_bytes"] == sum(
        int(one[f"{name}_bytes"] or 0) for name in ("srs", "pce", "calculator")
    )
    assert one["working_bytes"] == int(one["phase1_bytes"] or 0) + int(one["phase2_bytes"] or 0)
    assert one | {"circuit": "other"} == other
    needed_bytes, working_bytes = int(one["entries_bytes"] or 0), int(one["working_bytes"] or 0)
    (small,) = asked(cuzk, settings, "one", "one", "--budget", f"{needed_bytes + 3 * working_bytes}B")
    assert (small["alone"], small["at_once"], small["bound"], small["refusal"]) == (3, 3, "budget", None)
    (none,) = asked(cuzk, settings, "one", "--budget", f"{needed_bytes + working_bytes - 1}B")
    assert none["at_once"] == 0
    would_do = re.search(r"a budget of ([0-9.]+ [KMG]iB) would do$", str(none["refusal"]))
    assert would_do is not None
    (enough,) = asked(cuzk, settings, "one", "--budget", would_do[1])
    assert (enough["at_once"], enough["refusal"]) == (1, None)
    assert Capacity.__dataclass_fields__.keys() < one.keys()


def test_it_prints_a_line_for_each_circuit_and_fits_a_terminal(cuzk: Cuzk, settings: Path) -> None:
    printed = succeed(cuzk("capacity", "--config", settings, "--budget", "1GiB"))
    firsts = [line.split()[0] for line in printed.splitlines() if line.strip()]
    assert (firsts.count("one"), firsts.count("other")) == (3, 2)  # with the title "one partition of"
    assert "a budget of 1GiB; 2 synthesize at once, if fewer than 2 wait; cpu proves 2 at once" in printed
    assert max(map(len, printed.splitlines())) < 90


def test_what_cannot_be_told_is_refused(cuzk: Cuzk, settings: Path, tmp_path: Path) -> None:
    assert "did you mean 'other'?" in refused(cuzk("capacity", "--config", settings, "othr"))
    assert "budget: found '2 gigs'" in refused(cuzk("capacity", "--config", settings, "--budget", "2 gigs"))
    nothing = {**os.environ, "CUZK_HOME": str(tmp_path), "CUZK_CONFIG": ""}
    assert "name a bundled one" in refused(cuzk("capacity", env=nothing, cwd=tmp_path / ".."))
