"""numba-cuda's types of fields, so that one kernel source serves every curve (as `kernels.cpu.tokens`).

A `Field` or `QuadraticField` that is passed to a kernel carries no data at run time: its numba type holds the
modulus, and generated code is specialised on that type. Inside a kernel, F.base is a quadratic field's base.
"""

from functools import lru_cache
from typing import Any

from numba.cuda import types
from numba.cuda.extending import (
    core_models,
    infer_getattr,
    lower_getattr_generic,
    register_model,
    typeof_impl,
)
from numba.cuda.typing.templates import AttributeTemplate

from kernels.fields import Field, QuadraticField
from kernels.intrinsics import type_name


class FieldType(types.Type):
    """A prime field. An element is UniTuple(uint32, 2·limbs)."""

    def __init__(self, description: Field | QuadraticField) -> None:
        self.description = description
        super().__init__(name=type_name(description))

    @property
    def base(self) -> "FieldType":
        return self

    @property
    def words(self) -> int:
        """32-bit words of an element."""
        return 2 * self.description.limbs

    @property
    def element(self) -> types.Type:
        return types.UniTuple(types.uint32, self.words)


class QuadraticFieldType(FieldType):
    """Fq2. An element is a pair (c0, c1) of elements of the base field."""

    @property
    def base(self) -> FieldType:
        return FieldType(self.description.base)

    @property
    def words(self) -> int:
        return 2 * self.base.words

    @property
    def element(self) -> types.Type:
        return types.UniTuple(self.base.element, 2)


@lru_cache
def field_type(field: Field | QuadraticField) -> FieldType:
    """The numba type of a description."""
    return FieldType(field) if isinstance(field, Field) else QuadraticFieldType(field)


@typeof_impl.register(Field)
@typeof_impl.register(QuadraticField)
def _typeof_token(value: Field | QuadraticField, _: Any) -> FieldType:
    return field_type(value)


register_model(FieldType)(core_models.OpaqueModel)
register_model(QuadraticFieldType)(core_models.OpaqueModel)


class TokenArguments:
    """Passes a token to a kernel as a null pointer (an extension in numba-cuda's sense)."""

    def prepare_args(self, kind: Any, value: Any, **_: Any) -> tuple[Any, Any]:
        return (types.uint64, 0) if isinstance(kind, FieldType) else (kind, value)


@infer_getattr
class _QuadraticFieldAttributes(AttributeTemplate):
    key = QuadraticFieldType

    def resolve_base(self, field: QuadraticFieldType) -> FieldType:
        return field.base


@lower_getattr_generic(QuadraticFieldType)
def _lower_token_attribute(context: Any, builder: Any, typ: Any, value: Any, attribute: str) -> Any:  # noqa: ARG001 — numba's signature
    return context.get_dummy_value()
