"""Witness calculators that circom 2 compiled to WebAssembly, run in wasmtime.

The interface is the one that circom's generated witness_calculator.js uses: numbers pass through one element
of shared memory; an input is addressed by the FNV-1a hash of its name; the last input that is set starts the
computation. Failures come as calls of `runtime` functions. What a circuit logs may be secret and is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import wasmtime
from numpy.typing import NDArray

from groth16.errors import InputError
from groth16.inputs import flatten, memory_bytes
from groth16.opening import open_to_read
from groth16.witness import Witness
from kernels.fields import Curve, curve_of_scalar_modulus
from kernels.meter import holding_bytes
from kernels.stop_flag import StopFlag

_PAGE_BYTES = 1 << 16
_BUFFER_BYTES = 1 << 20  # through which a witness leaves the calculator
_EXCEPTIONS = {
    1: "a signal was not found",
    2: "too many signals were set",
    3: "a signal was set twice",
    4: "a constraint or an assert does not hold",
    5: "the calculator ran out of memory",
    6: "an input has more values than its signal",
    7: "an array was accessed out of its bounds",
}
_REQUIRED = {
    "memory",
    "getVersion",
    "getFieldNumLen32",
    "getRawPrime",
    "getSharedRWMemoryStart",
    "getInputSignalSize",
    "getInputSize",
    "getWitnessSize",
    "getWitness",
    "getMessageChar",
    "init",
    "setInputSignal",
}
# Collects many values with one call from Python: each goes through the shared element into a buffer.
_GATHER = """
(module
  (import "circuit" "memory" (memory 1))
  (import "circuit" "getWitness" (func $get_witness (param i32)))
  (func (export "gather")
        (param $index i32) (param $stop i32) (param $shared i32) (param $to i32) (param $size i32)
    (loop $next
      (call $get_witness (local.get $index))
      (memory.copy (local.get $to) (local.get $shared) (local.get $size))
      (local.set $to (i32.add (local.get $to) (local.get $size)))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (local.get $stop))))))
"""


class WitnessCalculator:
    """A compiled circuit. Every `calculate` has an instance of its own, so threads may share this object."""

    def __init__(self, path: str | Path) -> None:
        """Compile a .wasm file. Raises InputError if it is none, or not one that circom 2 made."""
        self.path = Path(path)
        config = wasmtime.Config()
        config.epoch_interruption = True  # how a calculation is stopped; it costs nothing measurable
        self._engine = wasmtime.Engine(config)
        self._gather = wasmtime.Module(self._engine, _GATHER)
        with open_to_read(self.path) as file:
            code = file.read()
        if code[:4] != b"\0asm":
            raise InputError(
                f"{path}: begins with {code[:4]!r}, expected a WebAssembly module: is it the .wasm?"
            )
        try:
            self._module = wasmtime.Module(self._engine, code)
        except wasmtime.WasmtimeError as error:
            first_line = str(error).splitlines()[0]
            raise InputError(
                f"{path}: is no valid WebAssembly module ({first_line}): compile it again"
            ) from error
        if missing := _REQUIRED - {export.name for export in self._module.exports}:
            raise InputError(
                f"{path}: has no {min(missing)}, it was not made by circom 2: compile it with that"
            )

    def calculate(
        self, inputs: Mapping[str, Any], source: str | Path = "the inputs", stop: StopFlag | None = None
    ) -> Witness:
        """The witness for inputs as in circom's JSON files (see `inputs`); `source` is the file's name.

        Raises InputError for an unknown signal or one with too few or too many values, by name; for missing
        ones; and for inputs that violate the circuit, with the template and line that circom reports. Raises
        Stopped soon after `stop` is set.
        """
        stop = stop or StopFlag()
        with stop.interrupting(self._engine.increment_epoch):
            while True:
                try:
                    return self._calculate(inputs, source)
                except wasmtime.Trap as trap:
                    if trap.trap_code != wasmtime.TrapCode.INTERRUPT:
                        raise
                    stop.check()  # else it was another calculation's stop, which all of this circuit see

    def _calculate(self, inputs: Mapping[str, Any], source: str | Path) -> Witness:
        with wasmtime.Store(self._engine) as store:
            store.set_epoch_deadline(1)
            instance = _Instance(store, self._module, self.path)
            signals = flatten(inputs, instance.curve.fr.modulus, source)
            try:
                with holding_bytes(memory_bytes(inputs) + memory_bytes(signals)):
                    instance.set_inputs(signals)
                    return Witness(instance.curve, instance.values(self._gather))
            except InputError as error:  # it names the circuit, and it is the inputs that do not fit it
                raise InputError(f"{source}: {error}") from error


class _Instance:
    """One calculation."""

    def __init__(self, store: wasmtime.Store, module: wasmtime.Module, path: Path) -> None:
        self._store, self._path = store, path
        self._messages: list[str] = []
        linker = wasmtime.Linker(store.engine)
        self._define_runtime(linker, module)
        self._exports = linker.instantiate(store, module).exports(store)
        memory = self._exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._memory = memory
        self._element_bytes = 4 * self._call("getFieldNumLen32")
        self._shared = self._call("getSharedRWMemoryStart")
        self.curve = self._curve()

    def _define_runtime(self, linker: wasmtime.Linker, module: wasmtime.Module) -> None:
        def fail(_caller: wasmtime.Caller, code: int) -> None:
            why = _EXCEPTIONS.get(code, f"error {code}")
            raise InputError(": ".join([f"{self._path}: {why}", *self._messages]))

        def keep_message(caller: wasmtime.Caller) -> None:
            self._messages.append(_message(caller))

        def drop_message(caller: wasmtime.Caller) -> None:
            _message(caller)

        runtime: dict[str, Callable[..., None]] = {
            "exceptionHandler": fail,
            "printErrorMessage": keep_message,
            "writeBufferMessage": drop_message,
            "showSharedRWMemory": lambda _caller: None,
        }
        for wanted in module.imports:
            if wanted.module != "runtime" or wanted.name not in runtime:
                raise InputError(
                    f"{self._path}: imports {wanted.module}.{wanted.name}, which circom 2 does not use"
                )
            assert isinstance(wanted.type, wasmtime.FuncType)
            linker.define_func("runtime", wanted.name, wanted.type, runtime[wanted.name], access_caller=True)

    def _call(self, name: str, *arguments: int) -> int:
        function = self._exports[name]
        assert isinstance(function, wasmtime.Func)
        try:
            return int(function(self._store, *arguments) or 0)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            if isinstance(error, wasmtime.Trap) and error.trap_code == wasmtime.TrapCode.INTERRUPT:
                raise
            first_line = str(error).splitlines()[0]
            raise InputError(f"{self._path}: the calculator failed ({first_line})") from error

    def _curve(self) -> Curve:
        if (version := self._call("getVersion")) != 2:
            raise InputError(
                f"{self._path}: was made by circom {version}, expected circom 2: compile it again"
            )
        self._call("getRawPrime")
        modulus = int.from_bytes(
            self._memory.read(self._store, self._shared, self._shared + self._element_bytes), "little"
        )
        curve = curve_of_scalar_modulus(modulus)
        if curve is None:
            raise InputError(
                f"{self._path}: is for the field of modulus {modulus}, expected bn254's or bls12381's: "
                "compile it with --prime bn128 or --prime bls12381"
            )
        return curve

    def set_inputs(self, signals: Mapping[str, list[int]]) -> None:
        """Set every input; the last one computes the witness."""
        sanity_checks = 1
        self._call("init", sanity_checks)
        addresses = {name: _hash(name) for name in signals}
        for name, values in signals.items():
            self._check_size(name, len(values), addresses[name])
        given, expected = sum(map(len, signals.values())), self._call("getInputSize")
        if given < expected:
            found = f"{given} are given by {', '.join(signals)}" if signals else "none is given"
            raise InputError(f"{self._path}: takes {expected} input values, {found}: one is missing")
        for name, values in signals.items():
            for index, value in enumerate(values):
                self._memory.write(self._store, value.to_bytes(self._element_bytes, "little"), self._shared)
                self._call("setInputSignal", *addresses[name], index)

    def _check_size(self, name: str, given: int, address: tuple[int, int]) -> None:
        expected = self._call("getInputSignalSize", *address)
        if expected <= 0 < given:  # circom answers 0 or -1, by version
            raise InputError(f"{self._path}: has no input {name!r}: check its name in the circuit")
        if given != expected:
            raise InputError(f"{self._path}: input {name!r} has {given} values, expected {expected}")

    def values(self, gather_module: wasmtime.Module) -> NDArray[np.uint64]:
        """All wires' values: (n_wires, 4) uint64 limbs, canonical."""
        store, memory, size = self._store, self._memory, self._element_bytes
        n_wires = self._call("getWitnessSize")
        buffer = memory.grow(store, -(-_BUFFER_BYTES // _PAGE_BYTES)) * _PAGE_BYTES
        gather = wasmtime.Instance(store, gather_module, [memory, self._exports["getWitness"]]).exports(
            store
        )["gather"]
        assert isinstance(gather, wasmtime.Func)
        values = np.empty((n_wires, size // 8), np.uint64)
        step = _BUFFER_BYTES // size
        with holding_bytes(memory.data_len(store) + values.nbytes + min(step, n_wires) * size):
            for start in range(0, n_wires, step):
                stop = min(start + step, n_wires)
                gather(store, start, stop, self._shared, buffer, size)
                part = memory.read(store, buffer, buffer + (stop - start) * size)
                values[start:stop] = np.frombuffer(part, np.uint64).reshape(-1, size // 8)
        return values


def _message(caller: wasmtime.Caller) -> str:
    """The message that the calculator holds ready, a character a call, up to a zero."""
    next_character = caller.get("getMessageChar")
    assert isinstance(next_character, wasmtime.Func)
    return "".join(chr(code) for code in iter(lambda: int(next_character(caller)), 0)).strip()


def _hash(name: str) -> tuple[int, int]:
    """The 64-bit FNV-1a hash (Fowler, Noll, Vo) of a name as its high and low words, signed as in wasm."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    high, low = (
        int.from_bytes(value.to_bytes(8, "big")[part], "big", signed=True) for part in (slice(4), slice(4, 8))
    )
    return high, low
