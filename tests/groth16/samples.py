"""The files that snarkjs and circom made of sample.circom, and what damages them."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groth16.errors import InputError
from tests.groth16 import oracle

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "snarkjs"
CURVES = ("bn254", "bls12381")
PUBLIC = {curve: [48, 73, modulus - 4] for curve, modulus in oracle.MODULI.items()}


def sample(curve: str, name: str) -> Path:
    return FOLDER / curve / name


def sections_of(path: Path) -> dict[int, bytes]:
    """A parser of its own for iden3's container."""
    data, position, sections = path.read_bytes(), 12, {}
    for _ in range(struct.unpack_from("<I", data, 8)[0]):
        number, size = struct.unpack_from("<IQ", data, position)
        sections[number] = data[position + 12 : position + 12 + size]
        position += 12 + size
    return sections


def rebuilt(path: Path, to: Path, changes: Mapping[int, bytes | None]) -> Path:
    """A copy of a container with some sections replaced, or left out for None, and others added."""
    data = path.read_bytes()
    merged: dict[int, bytes | None] = {**sections_of(path), **changes}
    sections = {number: part for number, part in merged.items() if part is not None}
    to.write_bytes(oracle.binary_file(data[:4], struct.unpack_from("<I", data, 4)[0], sections))
    return to


def patched(data: bytes, at: int, replacement: bytes) -> bytes:
    return data[:at] + replacement + data[at + len(replacement) :]


def refuses(read: Callable[[Path], object], path: Path, *words: str) -> None:
    """The reader raises InputError in one line that names the file and has these words."""
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    for word in words:
        assert re.search(word, message), message


def snarkjs(*arguments: str | Path) -> str:
    """Run the pinned snarkjs; its output, or an error with it."""
    program = ROOT / "node_modules/.bin/snarkjs"
    assert program.exists(), "install it with `make node_modules/.package-lock.json`"
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
