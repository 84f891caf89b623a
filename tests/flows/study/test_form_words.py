"""What a capacity study says to who uses its form, who knows none of `cuzk sim`'s options."""

import re
from pathlib import Path

import pytest

import flows.study
import sim
from flows.study.form_words import in_the_form

OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]*")


def messages() -> list[str]:
    """The strings of both rooms in which an option is named, without the commands that they quote."""
    files = [path for room in (sim, flows.study) for path in Path(str(room.__file__)).parent.glob("*.py")]
    quoted = [
        text
        for path in files
        if path.name != "form_words.py"
        for text in re.findall(r'f?"[^"\n]*--[^"\n]*"', path.read_text())
    ]
    return [re.sub(r"`[^`]*`", "", text) for text in quoted]


def test_every_option_that_is_named_has_a_field() -> None:
    found = messages()
    assert len(found) > 10
    left = [text for text in found if OPTION.search(in_the_form(text))]
    assert not left


@pytest.mark.parametrize(
    ("said", "in_form"),
    [
        ("nothing to simulate: give --workload FILE, or a circuit by --type",
         "nothing to simulate: give a Workload, or a Circuit"),
        ("--set machine.gpus=x: expected a number", "machine.gpus=x: expected a number"),
        ("--goal 'x': expected such as proofs_an_hour>=2", "Goals 'x': expected such as proofs_an_hour>=2"),
    ],
)  # fmt: skip
def test_options_become_fields(said: str, in_form: str) -> None:
    assert in_the_form(said) == in_form
