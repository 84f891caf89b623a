"""JSON parsed in pieces is JSON parsed at once, in the same words where it is none."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from groth16 import json_pieces
from groth16.errors import InputError
from groth16.json_files import parse_json
from groth16.json_pieces import loads_in_pieces

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["]", "[", ",", '"', "\\"]),
    lambda parts: st.lists(parts, max_size=8) | st.dictionaries(st.text(max_size=3), parts, max_size=4),
)


def either(text: bytes, parse: Any) -> Any:
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:
        return type(error), str(error)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_pieces, "PIECE", 12)


@pytest.fixture
def _usual_recursion_limit() -> Iterator[None]:
    """Other tests' libraries raise it, for good; with that C's stack would be the limit of nested arrays."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_every_value_is_the_same(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert loads_in_pieces(text) == json.loads(text) == value


@given(VALUES, st.data())
def test_what_is_no_json_is_refused_in_the_same_words(value: Any, data: st.DataObject) -> None:
    text = bytearray(json.dumps(value).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b",", b"]", b"[", b'"', b"1"])
        )
    assert either(bytes(text), loads_in_pieces) == either(bytes(text), json.loads)


@pytest.mark.parametrize(
    "text", ["[1,]", "[1,2,3,4,5,6,7,8,9, ]", "[,1]", "[" * 100_000, "", "[1] 2", '{"a":[1,}']
)
@pytest.mark.usefixtures("_usual_recursion_limit")
def test_known_mistakes(text: str) -> None:
    found = either(text.encode(), loads_in_pieces)
    assert found == either(text.encode(), json.loads)
    assert isinstance(found, tuple)


def test_no_call_into_c_takes_more_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a thread which waits for the interpreter never waits for the whole."""
    sizes: list[int] = []
    loads = json.loads

    def counted(text: str) -> Any:
        sizes.append(len(text))
        return loads(text)

    values = {"a": ["123", "4"] * 500, "b": [[str(n), "1"] for n in range(200)]}
    text = json.dumps(values).encode()
    monkeypatch.setattr(json, "loads", counted)
    assert loads_in_pieces(text) == values
    assert len(sizes) > 500
    assert max(sizes) <= 12 + 2


def test_a_large_file_that_names_a_signal_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groth16.json_files.LARGE_BYTES", 10)
    with pytest.raises(InputError, match=r'input\.json: names "a" twice'):
        parse_json("input.json", b'{"a": ["1", "2", "3"], "a": "2"}')
    with pytest.raises(InputError, match=r"no valid JSON \(Expecting value: line 1 column 13"):
        parse_json("input.json", b'{"a": ["1", nothing, "2", "3"]}')
