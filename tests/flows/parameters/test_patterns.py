"""What the form lets through is what the parameters take."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from config import ConfigError
from daemon.errors import DaemonError
from flows.parameters.batch import BatchParameters, batch_config

GOOD = {
    "due": ["06:00", "6:00", " 8h ", "1h30m", "1.5 h 3 s", "2099-01-31", "2099-01-31 06:00",
            "2099-01-31T06:00:00Z", "2099-02-01T06:00+01:00"],
    "budget": ["auto", "2GiB", "512 mib", "10gb", "1.5TB", " 100B "],
    "device": ["auto", "all", "none", "0", "0, 1", " 2,3 "],
    "engine": ["", "http://127.0.0.1:9820", "https://prover.example:443/", "localhost:9820", "[::1]:9820",
               "unix:///run/cuzk.sock", "unix:/run/cuzk.sock"],
}  # fmt: skip
BAD = {
    "due": ["soon", "8", "tomorrow 06:00", "2027", "20270131", "31.1.2027", "8 hours", "-8h"],
    "budget": ["2", "2 Gigs", "lots", "10Gb", "1 Gib", "-1GiB", "GiB", "Auto"],
    "device": ["gpu0", "0;1", "0 1", "0,", "-1", "any"],
    "engine": ["cuzk", "127.0.0.1", "ftp://127.0.0.1:9820", "http://", "unix:cuzk.sock", "unix://cuzk.sock"],
}


def _takes(field: str, text: str) -> bool:
    try:
        batch_config(BatchParameters(circuit="merkle", **{field: text}), print)  # type: ignore[arg-type]
    except (ConfigError, DaemonError, ValidationError):
        return False
    return True


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUZK_CONFIG", raising=False)


@pytest.mark.parametrize("field", GOOD)
def test_pattern_and_parameters_agree(field: str) -> None:
    pattern = re.compile(BatchParameters.model_json_schema()["properties"][field]["pattern"])
    for text in GOOD[field]:
        assert pattern.search(text), text
        assert _takes(field, text), text
    for text in BAD[field]:
        assert not pattern.search(text), text
        assert not _takes(field, text), text
    assert pattern.search(""), "a field that is left out"


def test_the_id_of_a_run_is_one_or_its_begin() -> None:
    pattern = re.compile(BatchParameters.model_json_schema()["properties"]["resume"]["pattern"])
    assert pattern.search("01a230fc-9130-7302-b532-c2f98276f8c9")
    assert pattern.search("01a2")
    assert not pattern.search("last night's")
