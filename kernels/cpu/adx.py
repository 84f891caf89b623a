"""Montgomery products for x86 processors with ADX and BMI2 (Intel since 2014, AMD since 2017).

adcx and adox carry through different flags, so the low and the high halves of a row of products are added
in two chains at once; LLVM only ever writes one chain. A quarter faster than `portable`.
See Intel, "New Instructions Supporting Large Integer Arithmetic", 2012.
"""

import platform
from collections.abc import Sequence
from typing import Any

from llvmlite import binding, ir

from kernels.cpu.words import I64, WORD_MASK, Builder, Words, constant
from kernels.fields import Field


def available() -> bool:
    """Whether this processor has the instructions; if so, LLVM is made ready for them."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    features = binding.get_host_cpu_features()
    if not (features.get("adx") and features.get("bmi2")):
        return False
    # Here, not where a product is emitted: a new kernel may have all its products from cached ones.
    binding.initialize_native_asmparser()
    return True


def product(builder: Builder, field: Field, pairs: Sequence[tuple[Words, Words]]) -> Words:
    """Emits Σ a·b / R over the pairs: words of a number below twice the modulus, congruent to it.

    (k + 1)·p must be below 2^(64·limbs) for k pairs, so that the running total fits.
    """
    operands = _in_memory(builder, [word for pair in pairs for element in pair for word in element])
    text, result = _assembly(field, len(pairs))
    registers = emit(builder, text, field.limbs + 3, operands, modulus_in_memory(builder.module, field))
    return [builder.extract_value(registers, i) for i in result]


def emit(builder: Builder, text: str, outputs: int, *addresses: Any) -> Any:
    """Emits assembly that sets registers 0 to outputs − 1 and has the addresses in those after."""
    inputs = len(addresses)
    constraints = ",".join(["=&r"] * outputs + ["r"] * inputs + ["~{rdx}", "~{flags}", "~{memory}"])
    returned = ir.LiteralStructType([I64] * outputs)
    signature = ir.FunctionType(returned, [I64.as_pointer()] * inputs)
    return builder.call(ir.InlineAsm(signature, text, constraints, side_effect=True), addresses)


def _in_memory(builder: Builder, words: Words) -> Any:
    pointer = builder.alloca(I64, len(words))
    for i, word in enumerate(words):
        builder.store(word, builder.gep(pointer, [ir.Constant(I64, i)]))
    return pointer


def modulus_in_memory(module: Any, field: Field) -> Any:
    name = f"cuzk.{field.limbs}.{field.modulus:x}"
    words = ir.ArrayType(I64, field.limbs)
    if name not in module.globals:
        variable = ir.GlobalVariable(module, words, name)
        variable.linkage, variable.global_constant = "linkonce_odr", True
        variable.initializer = ir.Constant(words, constant(field.modulus, field.limbs))
    return module.globals[name].bitcast(I64.as_pointer())


def _assembly(field: Field, pairs: int) -> tuple[str, list[int]]:
    """The text, and which of its outputs hold the result, least significant first.

    Outputs are registers 0 to limbs + 2, in turn words of the total and scratch. Two inputs follow: the
    address of the pairs' words and that of the modulus.
    """
    n = field.limbs
    total = [f"${i}" for i in range(n)]
    top, low, high, operands, modulus = (f"${n + i}" for i in range(5))
    lines: list[str] = []
    for i in range(n):
        for pair in range(pairs):
            a, b = 16 * n * pair, 16 * n * pair + 8 * n
            lines += [f"movq {b + 8 * i}({operands}), %rdx", f"xorq {low}, {low}"]  # clears both carries
            factors = [f"{a + 8 * j}({operands})" for j in range(n)]
            if i == pair == 0:
                lines += _first_row(factors, [*total, top], low)
            else:
                lines += _add_row(factors, total, top, low, high, top_is_new=pair == 0)
        reduction, high = reduce_word(field, total, top, low, high, modulus)
        lines += reduction
    return "\n".join(lines), [int(register[1:]) for register in total]


def reduce_word(
    field: Field, total: list[str], top: str, low: str, high: str, modulus: str
) -> tuple[list[str], str]:
    """(top, total) plus the multiple of the modulus that makes its lowest word zero, over 2^64.

    Moves the registers of `total` and returns the one that takes the place of `high`. top may be `low` for 0.
    """
    negated_inverse = -pow(field.modulus, -1, 1 << 64) & WORD_MASK
    lines = [f"movabsq $${negated_inverse:#x}, %rdx", f"imulq {total[0]}, %rdx", f"xorq {low}, {low}"]
    lines += [f"mulxq ({modulus}), {low}, {high}", f"adcxq {total[0]}, {low}"]
    total[0], high = high, total[0]  # the lowest word is zero now: its register is free
    for j in range(1, field.limbs):
        lines += [f"adcxq {total[j]}, {total[j - 1]}", f"mulxq {8 * j}({modulus}), {low}, {total[j]}"]
        lines += [f"adoxq {low}, {total[j - 1]}"]
    return [*lines, f"movq $$0, {low}", f"adcxq {low}, {total[-1]}", f"adoxq {top}, {total[-1]}"], high


def _first_row(factors: list[str], total: list[str], low: str) -> list[str]:
    """total = factors · rdx"""
    lines = [f"mulxq {factors[0]}, {total[0]}, {total[1]}"]
    for j in range(1, len(factors)):
        lines += [f"mulxq {factors[j]}, {low}, {total[j + 1]}", f"adoxq {low}, {total[j]}"]
    return [*lines, f"movq $$0, {low}", f"adoxq {low}, {total[-1]}"]


def _add_row(
    factors: list[str], total: list[str], top: str, low: str, high: str, top_is_new: bool
) -> list[str]:
    """(top, total) += factors · rdx"""
    lines = [f"mulxq {factors[0]}, {low}, {high}", f"adoxq {low}, {total[0]}"]
    for j in range(1, len(factors)):
        to = top if top_is_new and j == len(factors) - 1 else high
        lines += [f"adcxq {high}, {total[j]}", f"mulxq {factors[j]}, {low}, {to}", f"adoxq {low}, {total[j]}"]
    lines += [f"movq $$0, {low}", f"adcxq {low if top_is_new else high}, {top}", f"adoxq {low}, {top}"]
    return lines
