"""64-bit words in generated LLVM code, and the wide integers that they make up."""

from typing import Any

from llvmlite import ir

Words = list[Any]  # llvmlite values of type i64, least significant first
Builder = Any  # llvmlite.ir.IRBuilder

I64 = ir.IntType(64)
WORD_MASK = (1 << 64) - 1


def constant(value: int, words: int) -> Words:
    """A number that is known now, as words."""
    return [ir.Constant(I64, value >> 64 * i & WORD_MASK) for i in range(words)]


def to_integer(builder: Builder, words: Words) -> Any:
    """The number that words make up. LLVM turns sums of such numbers into chains of add with carry."""
    wide = ir.IntType(64 * len(words))
    value = builder.zext(words[0], wide)
    for i in range(1, len(words)):
        high = builder.shl(builder.zext(words[i], wide), ir.Constant(wide, 64 * i))
        value = builder.or_(value, high)
    return value


def to_words(builder: Builder, value: Any) -> Words:
    """The words of a number of a whole number of words."""
    count = value.type.width // 64
    return [builder.trunc(builder.lshr(value, ir.Constant(value.type, 64 * i)), I64) for i in range(count)]
