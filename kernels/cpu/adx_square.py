"""Montgomery squares for x86 processors with ADX and BMI2 (see `adx`): products of two words are made once.

Of n² word products n·(n − 1)/2 are doubled and n are squares; the n² + n of the reduction stay, so that 30
of 36 multiplications are left for 4 limbs, and 63 of 78 for 6. A square takes 0.93 of a product's time for 4
limbs, and 0.92 for 6, or 0.90 if each waits for the last (Xeon, Sapphire Rapids).

The square is made whole before it is reduced (Koç, Acar, Kaliski, "Analyzing and comparing Montgomery
multiplication algorithms", 1996: separated operand scanning), and lies in memory in between, since with 6
limbs there are no registers for both.
"""

from typing import Any

from llvmlite import ir

from kernels.cpu.adx import emit, modulus_in_memory, reduce_word
from kernels.cpu.words import I64, Builder, Words
from kernels.fields import Field


def square(builder: Builder, field: Field, a: Words) -> Words:
    """Emits a²/R, below twice the modulus."""
    n = field.limbs
    memory = builder.alloca(I64, 3 * n)  # a, then its square
    for i, word in enumerate(a):
        builder.store(word, _at(builder, memory, i))
    emit(builder, _square_assembly(n), 2 * n, memory)
    text, result = _reduction_assembly(field)
    addresses = _at(builder, memory, n), modulus_in_memory(builder.module, field)
    registers = emit(builder, text, n + 2, *addresses)
    return [builder.extract_value(registers, i) for i in result]


def _at(builder: Builder, memory: Any, word: int) -> Any:
    return builder.gep(memory, [ir.Constant(I64, word)])


def _square_assembly(n: int) -> str:
    """Words n to 3·n − 1 behind the address = the square of words 0 to n − 1.

    Registers 0 to 2·n − 3 are words 1 to 2·n − 2 of the products of different words; two are scratch.
    """
    words = ["", *(f"${i}" for i in range(2 * n - 2))]
    low, high, address = (f"${2 * n - 2 + i}" for i in range(3))
    lines: list[str] = []
    for i in range(n - 1):
        lines += [f"movq {8 * i}({address}), %rdx", f"xorq {low}, {low}"]  # clears both carries
        if i == 0:
            lines.append(f"mulxq 8({address}), {words[1]}, {words[2]}")
            for j in range(2, n):
                lines += [f"mulxq {8 * j}({address}), {low}, {words[j + 1]}", f"adcxq {low}, {words[j]}"]
        else:
            for j in range(i + 1, n):
                to = words[n + i] if j == n - 1 else high  # the row's last word is new
                lines += [f"mulxq {8 * j}({address}), {low}, {to}", f"adoxq {low}, {words[i + j]}"]
                lines += [f"adcxq {high}, {words[i + j + 1]}"] if j < n - 1 else []
        lines += [f"movq $$0, {low}", f"adcxq {low}, {words[n + i]}", f"adoxq {low}, {words[n + i]}"]
    return "\n".join([*lines, *_double_and_add_squares(n, words, low, high, address)])


def _double_and_add_squares(n: int, words: list[str], low: str, high: str, address: str) -> list[str]:
    """Doubles by one chain of carries while the other adds the words' squares; stores the sums."""
    lines = [f"xorq {low}, {low}"]
    for i in range(n):
        lines += [f"movq {8 * i}({address}), %rdx", f"mulxq %rdx, {low}, {high}"]
        for k, half in ((2 * i, low), (2 * i + 1, high)):
            if k == 0:
                total = half
            elif k < 2 * n - 1:
                total = words[k]
                lines += [f"adcxq {total}, {total}", f"adoxq {half}, {total}"]
            else:
                total = half
                lines += [f"movq $$0, {low}", f"adcxq {low}, {total}", f"adoxq {low}, {total}"]
            lines.append(f"movq {total}, {8 * (n + k)}({address})")
    return lines


def _reduction_assembly(field: Field) -> tuple[str, list[int]]:
    """The text, and which of its outputs hold the result, least significant first.

    Two inputs follow the outputs: the address of 2·n words to be reduced, and that of the modulus.
    """
    n = field.limbs
    total = [f"${i}" for i in range(n)]
    low, high, address, modulus = (f"${n + i}" for i in range(4))
    lines = [f"movq {8 * j}({address}), {total[j]}" for j in range(n)]
    for _ in range(n):
        reduction, high = reduce_word(field, total, low, low, high, modulus)
        lines += reduction
    for j in range(n):
        lines.append(f"{'adcq' if j else 'addq'} {8 * (n + j)}({address}), {total[j]}")
    return "\n".join(lines), [int(register[1:]) for register in total]
