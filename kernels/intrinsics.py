"""What tokens and intrinsics share, whether numba compiles them for a processor or for a GPU.

numba holds an element as an LLVM array of its words (of vectors of words, for eight elements), and one over a
quadratic field as an array of two of those. Code generators work on the flat list.
"""

import hashlib
from typing import Any, Protocol

from llvmlite import ir

from kernels.fields import Field, QuadraticField


class Description(Protocol):
    """A dataclass whose repr tells all of it."""

    @property
    def name(self) -> str: ...


def type_name(description: Description) -> str:
    """Of the numba type that stands for a description: equal for equal ones only."""
    return f"{description.name}.{hashlib.sha256(repr(description).encode()).hexdigest()[:16]}"


def flatten(builder: Any, value: Any) -> list[Any]:
    """The words of an element as numba holds it."""
    parts = [builder.extract_value(value, i) for i in range(value.type.count)]
    if isinstance(value.type.element, ir.ArrayType):
        return [word for part in parts for word in flatten(builder, part)]
    return parts


def pack(builder: Any, field: Field | QuadraticField, words: list[Any]) -> Any:
    """The inverse of `flatten` for an element of `field`."""
    if isinstance(field, QuadraticField):
        middle = len(words) // 2
        words = [pack(builder, field.base, half) for half in (words[:middle], words[middle:])]
    return to_array(builder, words)


def to_array(builder: Any, parts: list[Any]) -> Any:
    """An LLVM array of values of one type."""
    packed = ir.Constant(ir.ArrayType(parts[0].type, len(parts)), ir.Undefined)
    for i, part in enumerate(parts):
        packed = builder.insert_value(packed, part, i)
    return packed
