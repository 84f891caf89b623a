"""Formulas over field elements in memory, compiled without numba's own passes.

A curve's or tower's formula is a Python function over `Row`s, written with operators. `formula` makes of it
one LLVM function for each field, never inlined, that any kernel calls as

    name(F, array, first_element, …, flag, …)

with an array and the index of its first element for every `Row`, and a bool for every `Flag`. numba would
type and lower each of hundreds of temporaries, and again in every kernel: several times the compile time.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NewType, Self

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from kernels.cpu import limbs64 as code
from kernels.cpu.tokens import FieldType, QuadraticFieldType
from kernels.fields import Field, QuadraticField

Flag = NewType("Flag", object)  # an LLVM i1


class Element:
    """A field element in registers, while a formula's code is emitted."""

    def __init__(self, builder: Any, field: Field | QuadraticField, words: code.Words) -> None:
        self.builder, self.field, self.words = builder, field, words

    def _call(self, operation: str, *others: Self) -> Self:
        words = (self.words, *(each.words for each in others))
        return type(self)(self.builder, self.field, code.call(self.builder, self.field, operation, *words))

    def __add__(self, other: Self) -> Self:
        return self._call("add", other)

    def __sub__(self, other: Self) -> Self:
        return self._call("sub", other)

    def __mul__(self, other: Self) -> Self:
        return self._call("mul", other)

    def __neg__(self) -> Self:
        return self._call("neg")

    def double(self) -> Self:
        return self._call("double")

    def square(self) -> Self:
        return self._call("square")

    def inverse(self) -> Self:
        """1/self, and 0 for 0."""
        return self._call("inverse")

    def constant(self, montgomery_value: int) -> Self:
        """A constant of the same field, over Fq2 one of its base."""
        return type(self)(self.builder, self.field, code.constant(montgomery_value, len(self.words)))

    def one(self) -> Self:
        return self.constant(_base(self.field).montgomery_one)

    def is_zero(self) -> Any:
        return self == self.constant(0)

    def __eq__(self, other: object) -> Any:  # an LLVM i1, not a bool
        if not isinstance(other, Element):
            return NotImplemented
        return code.equal(self.builder, self.words, other.words)

    __hash__ = None  # type: ignore[assignment]  # equality is not decided here

    def replaced_if(self, flag: Any, other: Self) -> Self:
        """The other where the flag, an LLVM i1, is set, else self."""
        pairs = zip(other.words, self.words, strict=True)
        return type(self)(self.builder, self.field, [self.builder.select(flag, *pair) for pair in pairs])

    def negative_if(self, flag: Flag) -> Self:
        """−self where the flag is set, else self."""
        return self.replaced_if(flag, -self)

    def halves(self) -> tuple[Self, Self]:
        """c0 and c1 of an element over a quadratic field."""
        base, middle = _base(self.field), len(self.words) // 2
        first, second = self.words[:middle], self.words[middle:]
        return type(self)(self.builder, base, first), type(self)(self.builder, base, second)

    def scaled(self, factor: Self) -> Self:
        """An element over a quadratic field times one of its base."""
        c0, c1 = self.halves()
        return type(self)(self.builder, self.field, (c0 * factor).words + (c1 * factor).words)

    def conjugate(self) -> Self:
        """c0 − c1·u for c0 + c1·u."""
        c0, c1 = self.halves()
        return type(self)(self.builder, self.field, c0.words + (-c1).words)


class Row:
    """Elements in memory from an address on; reading and writing one emits a load or a store."""

    def __init__(self, builder: Any, field: Field | QuadraticField, pointer: Any) -> None:
        self.builder, self.field, self.pointer = builder, field, pointer

    def over_base(self) -> Self:
        """The same memory as elements of the base field."""
        return type(self)(self.builder, _base(self.field), self.pointer)

    def _word(self, k: int, j: int) -> Any:
        return self.builder.gep(self.pointer, [ir.Constant(code.I64, k * code.words_of(self.field) + j)])

    def __getitem__(self, k: int) -> Element:
        words = range(code.words_of(self.field))
        loaded = [self.builder.load(self._word(k, j), align=1) for j in words]
        return Element(self.builder, self.field, loaded)

    def __setitem__(self, k: int, value: Element) -> None:
        for j, word in enumerate(value.words):
            self.builder.store(word, self._word(k, j), align=1)

    def apply(self, body: Callable[["Row"], None]) -> None:
        """Calls another formula of one Row, or what would be one, for this one."""
        name = f"{body.__module__}.{body.__name__}"
        self.builder.call(_define(self.builder.module, name, self.field, [Row], body), [self.pointer])

    @contextmanager
    def when(self, *conditions: Any) -> Iterator[None]:
        """What follows is done, and the formula left, where all conditions hold."""
        all_hold = conditions[0]
        for condition in conditions[1:]:
            all_hold = self.builder.and_(all_hold, condition)
        with self.builder.if_then(all_hold):
            yield
            self.builder.ret_void()


def formula(body: Callable[..., None]) -> Any:
    """Makes a kernel function of a formula (see the module); its parameters are annotated Row or Flag."""
    kinds = [parameter.annotation for parameter in inspect.signature(body, eval_str=True).parameters.values()]
    name = f"{body.__module__}.{body.__name__}"

    def definition(_: Any, F: Any, *arguments: Any) -> Any:
        _check(name, F, kinds, arguments)

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            function = _define(builder.module, name, F.description, kinds, body)
            builder.call(function, _operands(context, builder, F.description, kinds, signature.args, values))
            return context.get_dummy_value()

        indices = (types.intp if isinstance(each, types.Integer) else each for each in arguments)
        return types.void(F, *indices), codegen

    widths = [2 if kind is Row else 1 for kind in kinds]
    names = ["context", "F", *(f"argument_{i}" for i in range(sum(widths)))]
    definition.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # numba reads it: no *args
        [inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in names]
    )
    definition.__name__, definition.__doc__ = body.__name__, body.__doc__
    return _intrinsic(definition)


def _check(name: str, F: Any, kinds: list[Any], arguments: Any) -> None:
    if not isinstance(F, (FieldType, QuadraticFieldType)):
        raise TypingError(f"{name}: the first argument must be a Field or QuadraticField, not {F}")
    left = iter(arguments)
    for kind in kinds:
        first = next(left)
        if kind is not Row:
            fits = isinstance(first, types.Boolean)
        else:
            fits = (
                isinstance(first, types.Array)
                and first.layout == "C"
                and isinstance(next(left), types.Integer)
            )
        if not fits:
            raise TypingError(f"{name} takes {kinds}, not {arguments}")


def _operands(
    context: Any, builder: Any, field: Field | QuadraticField, kinds: list[Any], typed: Any, values: Any
) -> list[Any]:
    operands, position = [], 1
    words = ir.Constant(code.I64, code.words_of(field))
    for kind in kinds:
        if kind is Row:
            array = context.make_array(typed[position])(context, builder, values[position])
            first_word = builder.mul(values[position + 1], words)
            operands.append(builder.gep(builder.bitcast(array.data, code.I64.as_pointer()), [first_word]))
            position += 2
        else:
            operands.append(values[position])
            position += 1
    return operands


def _define(
    module: Any, name: str, field: Field | QuadraticField, kinds: list[Any], body: Callable[..., None]
) -> Any:
    symbol = f"{name}.{field.name}.{_base(field).modulus:x}"
    if symbol in module.globals:
        return module.globals[symbol]
    parameters = [code.I64.as_pointer() if kind is Row else ir.IntType(1) for kind in kinds]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), parameters), symbol)
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    builder = ir.IRBuilder(function.append_basic_block())
    operands = zip(kinds, function.args, strict=True)
    body(*(Row(builder, field, value) if kind is Row else value for kind, value in operands))
    builder.ret_void()
    return function


def _base(field: Field | QuadraticField) -> Field:
    return field if isinstance(field, Field) else field.base


def _intrinsic(definition: Callable[..., Any]) -> Any:
    """`intrinsic` for type checkers: a kernel's call has not the definition's parameters."""
    return intrinsic(definition)


@_intrinsic
def load_word(_: Any, array: Any, i: Any) -> Any:
    """load_word(array, i): 64-bit word i of an array of any type, at any address."""
    if not isinstance(array, types.Array) or array.layout != "C" or not isinstance(i, types.Integer):
        raise TypingError(f"words are read from C-contiguous arrays, not from {array}")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load(
            builder.gep(builder.bitcast(data, code.I64.as_pointer()), [arguments[1]]), align=1
        )

    return types.uint64(array, types.intp), codegen
