"""Between memory and lanes in generated code: eight rows of 64-bit words, a lane each, and 52-bit limbs.

Rows lie anywhere; each is L words, as in the arrays of `kernels.cpu.field`. Eight rows are transposed to L
vectors (word i of every row), and those are cut into limbs. Masks of `shuffle_vector` count through both
operands: 0 to 7 and 8 to 15.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from kernels.cpu.ifma import LANES, LIMB_BITS, LIMB_MASK, VECTOR, Vectors, splat
from kernels.cpu.words import I64, Builder

INT32 = ir.IntType(32)
EVEN = (0, 8, 2, 10, 4, 12, 6, 14)  # the even numbers of both operands, in turn
ODD = (1, 9, 3, 11, 5, 13, 7, 15)
EVEN_PAIRS = (0, 1, 8, 9, 4, 5, 12, 13)  # the same of pairs
ODD_PAIRS = (2, 3, 10, 11, 6, 7, 14, 15)


def load_rows(builder: Builder, pointers: Sequence[Any], words: int) -> Vectors:
    """`words` vectors, word i of each row; pointers: eight i64*."""
    result: Vectors = []
    while len(result) < words:
        left = words - len(result)
        load = _load_fours if left >= 4 else _load_twos if left >= 2 else _load_ones
        result += load(builder, [_offset(builder, each, len(result)) for each in pointers])
    return result


def store_rows(builder: Builder, pointers: Sequence[Any], vectors: Vectors) -> None:
    """The inverse of `load_rows`."""
    done = 0
    while done < len(vectors):
        left = len(vectors) - done
        store, count = (_store_fours, 4) if left >= 4 else (_store_twos, 2) if left >= 2 else (_store_ones, 1)
        rows = [_offset(builder, each, done) for each in pointers]
        store(builder, rows, vectors[done : done + count])
        done += count


def broadcast_row(builder: Builder, pointer: Any, words: int) -> Vectors:
    """The words of one row, each in every lane."""
    undefined, everywhere = ir.Constant(VECTOR, ir.Undefined), [0] * LANES
    loaded = [builder.load(_offset(builder, pointer, i), align=8) for i in range(words)]
    first = [builder.insert_element(undefined, word, ir.Constant(INT32, 0)) for word in loaded]
    return [_shuffle(builder, vector, undefined, everywhere) for vector in first]


def to_limbs(builder: Builder, words: Vectors, limbs: int, shift: int) -> Vectors:
    """The limbs of the words' number times 2^shift, 0 ≤ shift < 52; it must fit."""
    return [
        builder.and_(_bits_from(builder, words, 64, LIMB_BITS * i - shift), splat(LIMB_MASK))
        for i in range(limbs)
    ]


def to_words(builder: Builder, limbs: Vectors, words: int) -> Vectors:
    """The words of a normal element; bits beyond them are lost."""
    return [_bits_from(builder, limbs, LIMB_BITS, 64 * i) for i in range(words)]


def _bits_from(builder: Builder, digits: Vectors, width: int, first: int) -> Any:
    """At least 52 bits, at most 64, of the number from bit `first` on; digits of `width` bits."""
    total = None
    for i, digit in enumerate(digits):
        at = width * i - first
        if not -width < at < 64:
            continue
        part = builder.shl(digit, splat(at)) if at > 0 else builder.lshr(digit, splat(-at)) if at else digit
        total = part if total is None else builder.or_(total, part)
    return splat(0) if total is None else total


def _offset(builder: Builder, pointer: Any, words: int) -> Any:
    return builder.gep(pointer, [ir.Constant(I64, words)]) if words else pointer


def _shuffle(builder: Builder, a: Any, b: Any, order: Sequence[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT32, len(order)), list(order)))


def _load_as(builder: Builder, pointer: Any, words: int) -> Any:
    vector = ir.VectorType(I64, words)
    return builder.load(builder.bitcast(pointer, vector.as_pointer()), align=8)


def _store_as(builder: Builder, pointer: Any, value: Any) -> None:
    builder.store(value, builder.bitcast(pointer, value.type.as_pointer()), align=8)


def _load_fours(builder: Builder, rows: Sequence[Any]) -> Vectors:
    fours = [_load_as(builder, row, 4) for row in rows]
    both = [_shuffle(builder, fours[i], fours[i + 4], range(8)) for i in range(4)]  # rows i and i + 4
    even = [_shuffle(builder, both[i], both[i + 1], EVEN) for i in (0, 2)]
    odd = [_shuffle(builder, both[i], both[i + 1], ODD) for i in (0, 2)]
    return [_shuffle(builder, x[0], x[1], order) for order in (EVEN_PAIRS, ODD_PAIRS) for x in (even, odd)]


def _store_fours(builder: Builder, rows: Sequence[Any], words: Vectors) -> None:
    for order, first in ((EVEN, 0), (ODD, 1)):  # rows 0, 2, 4, 6, then the others
        low, high = (_shuffle(builder, words[i], words[i + 1], order) for i in (0, 2))
        for pairs, row in ((EVEN_PAIRS, first), (ODD_PAIRS, first + 2)):
            both = _shuffle(builder, low, high, pairs)  # rows `row` and `row` + 4
            _store_as(builder, rows[row], _shuffle(builder, both, both, range(4)))
            _store_as(builder, rows[row + 4], _shuffle(builder, both, both, range(4, 8)))


def _load_twos(builder: Builder, rows: Sequence[Any]) -> Vectors:
    twos = [_load_as(builder, row, 2) for row in rows]
    low = [_shuffle(builder, twos[i], twos[i + 2], range(4)) for i in (0, 1)]  # of rows 0, 2 and 1, 3
    high = [_shuffle(builder, twos[i], twos[i + 2], range(4)) for i in (4, 5)]
    even, odd = (_shuffle(builder, low[i], high[i], range(8)) for i in (0, 1))
    return [_shuffle(builder, even, odd, order) for order in (EVEN, ODD)]


def _store_twos(builder: Builder, rows: Sequence[Any], words: Vectors) -> None:
    for order, first in ((EVEN, 0), (ODD, 1)):
        every_other = _shuffle(builder, words[0], words[1], order)
        for i in range(4):
            part = _shuffle(builder, every_other, every_other, (2 * i, 2 * i + 1))
            _store_as(builder, rows[first + 2 * i], part)


def _load_ones(builder: Builder, rows: Sequence[Any]) -> Vectors:
    vector: Any = ir.Constant(VECTOR, ir.Undefined)
    for lane in range(LANES):
        vector = builder.insert_element(vector, builder.load(rows[lane], align=8), ir.Constant(INT32, lane))
    return [vector]


def _store_ones(builder: Builder, rows: Sequence[Any], words: Vectors) -> None:
    for lane in range(LANES):
        builder.store(builder.extract_element(words[0], ir.Constant(INT32, lane)), rows[lane], align=8)
