"""Loads and stores of eight elements, part of `kernels.cpu.lanes`."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from kernels.cpu import lane_memory
from kernels.cpu.ifma import LANES, VECTOR
from kernels.cpu.lane_field import LaneField
from kernels.cpu.lane_tokens import check, check_array, check_indices, lane_intrinsic
from kernels.cpu.words import I64
from kernels.intrinsics import flatten, pack

# ruff: noqa: ARG001 — numba gives an intrinsic its typing context first, wanted or not


@lane_intrinsic
def load(context: Any, F: Any, array: Any, group: Any) -> Any:
    """load(F, array, group): a group of an array of lanes."""
    check(F)
    check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _group_pointer(context, builder, signature, arguments)
        return pack(builder, F.description.field, [builder.load(each, align=8) for each in first])

    return F.element(F, array, types.intp), codegen


@lane_intrinsic
def store(context: Any, F: Any, array: Any, group: Any, value: Any) -> Any:
    """store(F, array, group, value): sets a group of an array of lanes."""
    check(F, value)
    check_array(array, to_write=True)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointers = _group_pointer(context, builder, signature, arguments)
        for vector, pointer in zip(flatten(builder, arguments[3]), pointers, strict=True):
            builder.store(vector, pointer, align=8)
        return context.get_dummy_value()

    return types.void(F, array, types.intp, value), codegen


@lane_intrinsic
def load_rows(context: Any, F: Any, array: Any, first: Any, stride: Any) -> Any:
    """load_rows(F, array, first, stride): rows first, first + stride, …, the same numbers."""
    return _load_rows(F, array, first, stride, shifted=False)


@lane_intrinsic
def load_rows_shifted(context: Any, F: Any, array: Any, first: Any, stride: Any) -> Any:
    """As `load_rows`, the numbers times 2^(52·limbs − 64·L), so bounds times 16, for L = 6 times 2^32.

    What is in Montgomery form with 2^(64·L) in memory is in Montgomery form with R then. A product of it and
    what `load_rows` gives is what the Montgomery product of the rows would be.
    """
    return _load_rows(F, array, first, stride, shifted=True)


@lane_intrinsic
def gather_rows(context: Any, F: Any, array: Any, indices: Any, at: Any) -> Any:
    """gather_rows(F, array, indices, at): rows indices[at], …, indices[at + 7]; any integers."""
    check(F)
    check_array(array)
    check_indices(indices)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = _indices(context, builder, signature.args[2], arguments[2], arguments[3])
        return _from_rows(context, builder, F, array, arguments[1], rows, shifted=False)

    return F.element(F, array, indices, types.intp), codegen


@lane_intrinsic
def broadcast_row(context: Any, F: Any, array: Any, row: Any) -> Any:
    """broadcast_row(F, array, row): one row of an array of rows in every lane, the same number."""
    check(F)
    check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        [pointer] = _row_pointers(context, builder, F, array, arguments[1], [arguments[2]])
        return _to_element(
            builder, F.description, lane_memory.broadcast_row(builder, pointer, F.description.words)
        )

    return F.element(F, array, types.intp), codegen


@lane_intrinsic
def store_rows(context: Any, F: Any, array: Any, first: Any, stride: Any, value: Any) -> Any:
    """store_rows(F, array, first, stride, value): the inverse of `load_rows`; value below 2^(64·L)."""
    check(F, value)
    check_array(array, to_write=True)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = _strided(builder, arguments[2], arguments[3])
        _to_rows(context, builder, F, array, arguments[1], rows, arguments[4])
        return context.get_dummy_value()

    return types.void(F, array, types.intp, types.intp, value), codegen


@lane_intrinsic
def scatter_rows(context: Any, F: Any, array: Any, indices: Any, at: Any, value: Any) -> Any:
    """scatter_rows(F, array, indices, at, value): the inverse of `gather_rows`; value below 2^(64·L)."""
    check(F, value)
    check_array(array, to_write=True)
    check_indices(indices)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = _indices(context, builder, signature.args[2], arguments[2], arguments[3])
        _to_rows(context, builder, F, array, arguments[1], rows, arguments[4])
        return context.get_dummy_value()

    return types.void(F, array, indices, types.intp, value), codegen


def _load_rows(F: Any, array: Any, first: Any, stride: Any, shifted: bool) -> tuple[Any, Callable[..., Any]]:
    check(F)
    check_array(array)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = _strided(builder, arguments[2], arguments[3])
        return _from_rows(context, builder, F, array, arguments[1], rows, shifted)

    return F.element(F, array, types.intp, types.intp), codegen


def _from_rows(
    context: Any, builder: Any, F: Any, array: Any, value: Any, rows: list[Any], shifted: bool
) -> Any:
    pointers = _row_pointers(context, builder, F, array, value, rows)
    words = lane_memory.load_rows(builder, pointers, F.description.words)
    return _to_element(builder, F.description, words, F.description.shift if shifted else 0)


def _to_element(builder: Any, lanes: LaneField, words: list[Any], shift: int = 0) -> Any:
    length = lanes.prime.limbs
    vectors = [
        limb
        for at in range(0, len(words), length)
        for limb in lane_memory.to_limbs(builder, words[at : at + length], lanes.limbs, shift)
    ]
    return pack(builder, lanes.field, vectors)


def _to_rows(
    context: Any, builder: Any, F: Any, array: Any, value: Any, rows: list[Any], element: Any
) -> None:
    lanes = F.description
    limbs = flatten(builder, element)
    words = [
        word
        for at in range(0, len(limbs), lanes.limbs)
        for word in lane_memory.to_words(builder, limbs[at : at + lanes.limbs], lanes.prime.limbs)
    ]
    lane_memory.store_rows(builder, _row_pointers(context, builder, F, array, value, rows), words)


def _row_pointers(context: Any, builder: Any, F: Any, array: Any, value: Any, rows: list[Any]) -> list[Any]:
    words = ir.Constant(I64, F.description.words)
    data = builder.bitcast(context.make_array(array)(context, builder, value).data, I64.as_pointer())
    return [builder.gep(data, [builder.mul(row, words)]) for row in rows]


def _strided(builder: Any, first: Any, stride: Any) -> list[Any]:
    return [builder.add(first, builder.mul(stride, ir.Constant(I64, lane))) for lane in range(LANES)]


def _indices(context: Any, builder: Any, array: Any, value: Any, at: Any) -> list[Any]:
    data = context.make_array(array)(context, builder, value).data
    extend = builder.sext if array.dtype.signed else builder.zext
    loaded = [builder.load(builder.gep(data, [builder.add(at, ir.Constant(I64, i))])) for i in range(LANES)]
    return [each if each.type == I64 else extend(each, I64) for each in loaded]


def _group_pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    lanes, array = signature.args[0].description, signature.args[1]
    data = context.make_array(array)(context, builder, arguments[1]).data
    vectors = builder.bitcast(data, VECTOR.as_pointer())
    first = builder.mul(arguments[2], ir.Constant(I64, lanes.vectors))
    return [builder.gep(vectors, [builder.add(first, ir.Constant(I64, i))]) for i in range(lanes.vectors)]
