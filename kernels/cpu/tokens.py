"""numba types of fields and groups, so that one kernel source serves every curve.

A `Field`, `QuadraticField` or `Group` that is passed to a kernel carries no data at run time: it is a token
whose numba *type* holds the modulus, and generated code is specialised on that type. Unlike a closure over
a modulus, such a kernel can be cached by numba. Inside a kernel:

    G.field -> the group's field        F.base -> the quadratic field's prime field
"""

from functools import lru_cache
from typing import Any

from numba import types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, models, register_model, typeof_impl, unbox

from kernels.fields import Field, Group, QuadraticField
from kernels.intrinsics import Description, type_name


class TokenType(types.Type):
    """A numba type that stands for one description; equal descriptions have equal types."""

    def __init__(self, description: Description) -> None:
        self.description = description
        super().__init__(name=type_name(description))


class FieldType(TokenType):
    """A prime field. An element is UniTuple(uint64, limbs)."""

    description: Field

    @property
    def words(self) -> int:
        """64-bit words of an element."""
        return self.description.limbs

    @property
    def element(self) -> types.Type:
        return types.UniTuple(types.uint64, self.words)


class QuadraticFieldType(TokenType):
    """Fq2. An element is a pair (c0, c1) of elements of the base field."""

    description: QuadraticField

    @property
    def base(self) -> FieldType:
        return FieldType(self.description.base)

    @property
    def words(self) -> int:
        """64-bit words of an element."""
        return 2 * self.base.words

    @property
    def element(self) -> types.Type:
        return types.UniTuple(self.base.element, 2)


class GroupType(TokenType):
    """A group of curve points; its numba type tells field and coefficient b."""

    description: Group

    @property
    def field(self) -> FieldType | QuadraticFieldType:
        return field_type(self.description.field)


def field_type(field: Field | QuadraticField) -> FieldType | QuadraticFieldType:
    return FieldType(field) if isinstance(field, Field) else QuadraticFieldType(field)


@lru_cache
def _token_type(description: Field | QuadraticField | Group) -> TokenType:
    return GroupType(description) if isinstance(description, Group) else field_type(description)


@typeof_impl.register(Field)
@typeof_impl.register(QuadraticField)
@typeof_impl.register(Group)
def _typeof_token(value: Field | QuadraticField | Group, _: Any) -> TokenType:
    return _token_type(value)


for _type in (FieldType, QuadraticFieldType, GroupType):
    register_model(_type)(models.OpaqueModel)

    @unbox(_type)
    def _unbox_token(typ: TokenType, obj: Any, c: Any) -> NativeValue:  # noqa: ARG001 — numba's signature
        return NativeValue(c.context.get_dummy_value())


@infer_getattr
class _GroupAttributes(AttributeTemplate):
    key = GroupType

    def resolve_field(self, group: GroupType) -> TokenType:
        return group.field


@infer_getattr
class _QuadraticFieldAttributes(AttributeTemplate):
    key = QuadraticFieldType

    def resolve_base(self, field: QuadraticFieldType) -> TokenType:
        return field.base


@lower_getattr_generic(GroupType)
@lower_getattr_generic(QuadraticFieldType)
def _lower_token_attribute(context: Any, builder: Any, typ: Any, value: Any, attribute: str) -> Any:  # noqa: ARG001 — numba's signature
    return context.get_dummy_value()
