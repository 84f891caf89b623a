"""numba types of lanes: the token `LaneField`, vectors and elements, and which fields have lanes here."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, intrinsic, models, register_model, typeof_impl, unbox
from numpy.typing import NDArray

from kernels.cpu import ifma
from kernels.cpu.ifma import LANES, VECTOR
from kernels.cpu.lane_field import LaneField, supports
from kernels.cpu.tokens import TokenType, field_type
from kernels.fields import Field, QuadraticField
from kernels.lane_choice import check_lane_choice, lane_choice

# ruff: noqa: ARG001 — numba's signatures

CHOICE = lane_choice()


def lanes_of(field: Field | QuadraticField) -> LaneField | None:
    """The field's lanes; None where they would not be faster, and the 64-bit kernels are to be used.

    The environment variable CUZK_LANES may be "off", or "emulated" to run them on any processor, slowly.
    """
    return _lanes(field, CHOICE)


@cache
def _lanes(field: Field | QuadraticField, choice: str) -> LaneField | None:
    check_lane_choice(choice)
    if choice == "off" or not supports(field) or (choice == "auto" and not ifma.available()):
        return None
    return LaneField(field, emulated=choice == "emulated")


def empty(F: LaneField, groups: int) -> NDArray[np.uint64]:
    """An array for `groups` times eight elements whose vectors do not straddle cache lines."""
    pair = () if isinstance(F.field, Field) else (2,)
    space = np.empty(groups * F.vectors * LANES + LANES - 1, np.uint64)
    first = -(space.ctypes.data // 8) % LANES
    return space[first : first + groups * F.vectors * LANES].reshape(groups, *pair, F.limbs, LANES)


class VectorType(types.Type):
    """Eight 64-bit lanes in a register."""

    def __init__(self) -> None:
        super().__init__(name="uint64x8")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: Any) -> None:
        super().__init__(manager, vector, VECTOR)


vector_type = VectorType()


class LaneFieldType(TokenType):
    """An element is UniTuple(vector, limbs), or a pair of those."""

    description: LaneField

    @property
    def element(self) -> types.Type:
        element = types.UniTuple(vector_type, self.description.limbs)
        return element if isinstance(self.description.field, Field) else types.UniTuple(element, 2)


@cache
def _token_type(description: LaneField) -> LaneFieldType:
    return LaneFieldType(description)


@typeof_impl.register(LaneField)
def _typeof_lanes(value: LaneField, _: Any) -> LaneFieldType:
    return _token_type(value)


register_model(LaneFieldType)(models.OpaqueModel)


@unbox(LaneFieldType)
def _unbox_lanes(typ: Any, obj: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


@infer_getattr
class _LaneFieldAttributes(AttributeTemplate):
    """F.base of a quadratic field, and F.field, the token for `kernels.cpu.field`."""

    key = LaneFieldType

    def resolve_base(self, lanes: LaneFieldType) -> Any:
        return _token_type(lanes.description.base)

    def resolve_field(self, lanes: LaneFieldType) -> Any:
        return field_type(lanes.description.field)


@lower_getattr_generic(LaneFieldType)
def _lower_attribute(context: Any, builder: Any, typ: Any, value: Any, attribute: str) -> Any:
    return context.get_dummy_value()


def lane_intrinsic(definition: Callable[..., Any]) -> Any:
    """numba's decorator; callers give the arguments without the context, which mypy can't know."""
    return intrinsic(definition)


def literal_intrinsic(definition: Callable[..., Any]) -> Any:
    """The same for a definition that wants constants as literals."""
    return intrinsic(prefer_literal=True)(definition)


def check(F: Any, *elements: Any) -> None:
    if not isinstance(F, LaneFieldType):
        raise TypingError(f"the first argument must be a LaneField, not {F}")
    for element in elements:
        if element != F.element:
            raise TypingError(f"an element of {F} is {F.element}, not {element}")


def check_array(array: Any, to_write: bool = False) -> None:
    if not isinstance(array, types.Array) or array.dtype != types.uint64 or array.layout != "C":
        raise TypingError(f"elements are stored in C-contiguous arrays of uint64, not in {array}")
    if to_write and not array.mutable:
        raise TypingError("a store needs an array that may be written")


def check_indices(indices: Any) -> None:
    if not isinstance(indices, types.Array) or indices.ndim != 1 or indices.layout != "C":
        raise TypingError(f"indices are a C-contiguous array of integers, not {indices}")
