"""Sizes read off a .wasm file, against the compiler's own view of it."""

from pathlib import Path

import pytest
import wasmtime

import examples
from engine.calculator_size import compiled_bytes, instance_bytes
from groth16.errors import InputError


@pytest.mark.parametrize("name", ["multiplier", "merkle", "merkle-bls12381"])
def test_instance_bytes_are_what_the_compiled_module_says(name: str) -> None:
    wasm = examples.CIRCUITS[name].wasm
    module = wasmtime.Module(wasmtime.Engine(), wasm.read_bytes())
    (memory,) = [export.type for export in module.exports if isinstance(export.type, wasmtime.MemoryType)]
    assert instance_bytes(wasm) == (memory.limits.min << 16) + (2 << 20)
    assert compiled_bytes(wasm) > 20 * wasm.stat().st_size


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no WebAssembly module"),
        (b"\0asm\2\0\0\0", "no WebAssembly module"),
        (b"\0asm\1\0\0\0", "no memory of its own"),
        (b"\0asm\1\0\0\0\5\1\0", "no memory of its own"),
        (b"\0asm\1\0\0\0\1\x90", "no memory of its own"),
    ],
)
def test_other_files_are_refused_by_name(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "circuit.wasm"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"circuit.wasm: .*{why}"):
        instance_bytes(path)


def test_a_number_of_several_bytes_and_a_greatest_size_are_read(tmp_path: Path) -> None:
    path = tmp_path / "circuit.wasm"
    path.write_bytes(b"\0asm\1\0\0\0" + b"\0\3abc" + b"\5\6\1\1\x80\2\x80\4")
    assert instance_bytes(path) == (256 + 32) << 16


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    for size in (compiled_bytes, instance_bytes):
        with pytest.raises(InputError, match=r"nowhere\.wasm: cannot be read"):
            size(tmp_path / "nowhere.wasm")
