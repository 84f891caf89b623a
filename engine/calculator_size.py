"""What a witness calculator takes in memory, from its .wasm file alone: nothing is compiled for it.

The module's layout is that of the WebAssembly core specification, section 5.5.
"""

from pathlib import Path
from typing import BinaryIO

from groth16.errors import InputError
from groth16.opening import open_to_read

WASM_PAGE_BYTES = 1 << 16
# The witness is copied out through a buffer that is added to the calculator's memory, and a copy of it.
BUFFER_PAGES = 2 * 16
# wasmtime's compiler took 18 to 21 bytes at its peak for a byte of a circom module of 0.1 to 0.8 MB, and the
# code it leaves 11; a small module has a fixed part besides.
COMPILED_BYTES_A_BYTE = 24
COMPILED_FIXED_BYTES = 2 << 20
# Parsed, and once more as numbers: 18.7 for many of three digits each in quotes, 3 for large ones.
INPUT_BYTES_A_BYTE = 20

_HEAD = b"\0asm\1\0\0\0"
_MEMORY_SECTION = 5


def compiled_bytes(wasm: Path) -> int:
    """What compiling the module takes and its code keeps: what its cache entry is charged."""
    return COMPILED_FIXED_BYTES + COMPILED_BYTES_A_BYTE * _size(wasm, "circom's .wasm")


def instance_bytes(wasm: Path) -> int:
    """What one calculation takes: circom lays a circuit's memory out beforehand. Raises InputError."""
    with open_to_read(wasm) as file:
        return (_memory_pages(file, wasm) + BUFFER_PAGES) * WASM_PAGE_BYTES


def inputs_bytes(inputs: Path) -> int:
    """What the inputs of a calculation take once they are read. Raises InputError."""
    return INPUT_BYTES_A_BYTE * _size(inputs, "inputs as JSON")


def _memory_pages(file: BinaryIO, wasm: Path) -> int:
    """The least number of pages of the module's own memory."""
    if file.read(len(_HEAD)) != _HEAD:
        raise InputError(f"{wasm}: is no WebAssembly module, expected circom's .wasm")
    while section := file.read(1):
        size = _unsigned(file)
        if section[0] == _MEMORY_SECTION and _unsigned(file) > 0:
            file.read(1)  # flags: whether a greatest number of pages follows
            return _unsigned(file)
        file.seek(size, 1)
    raise InputError(f"{wasm}: has no memory of its own, expected a calculator that circom 2 made")


def _unsigned(file: BinaryIO) -> int:
    """One LEB128 number; 0 at the file's end."""
    value, shift = 0, 0
    while byte := file.read(1):
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if not byte[0] & 0x80:
            break
    return value


def _size(path: Path, expected: str) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}), expected {expected}") from error
