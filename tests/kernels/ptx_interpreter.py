"""A machine for the few PTX instructions that `kernels.cuda.ptx` uses, with the carry flag."""

import re
from collections.abc import Callable

MASK = (1 << 32) - 1
INSTRUCTION = re.compile(r"([a-z0-9.]+) ([^;]+);")

LOGIC: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "not": lambda a: ~a,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "setp": lambda a, b: int(a == b),
    "selp": lambda a, b, condition: a if condition else b,
    "shf": lambda low, high, shift: (high << 32 | low) << shift >> 32,
    "shr": lambda a, shift: (a - (a >> 31 << 32)) >> shift,
}


class Machine:
    """32-bit registers by name; one that was never written can't be read."""

    def __init__(self, registers: dict[str, int]) -> None:
        self.registers = dict(registers)
        self.carry = 0

    def run(self, lines: list[str]) -> None:
        for line in lines:
            match = INSTRUCTION.fullmatch(line)
            assert match, f"not an instruction: {line}"
            name, (out, *operands) = match[1].split("."), match[2].split(",")
            self.registers[out] = self._value(name, [self._read(each) for each in operands], line)

    def _read(self, operand: str) -> int:
        return int(operand) if operand.isdigit() else self.registers[operand]

    def _value(self, name: list[str], operands: list[int], line: str) -> int:
        operation, modifiers = name[0], name[1:]
        if operation in LOGIC:
            return LOGIC[operation](*operands) & MASK
        assert modifiers[-1] == "u32", line
        carry_in = self.carry if operation in ("addc", "subc", "madc") else 0
        if operation in ("mul", "mad", "madc"):
            product = operands[0] * operands[1]
            total = product >> 32 if "hi" in modifiers else product & MASK
            total += sum(operands[2:]) + carry_in
        elif operation in ("add", "addc"):
            total = operands[0] + operands[1] + carry_in
        else:
            assert operation in ("sub", "subc"), line
            total = operands[0] - operands[1] - carry_in
        return self._wrap(total, "cc" in modifiers, line)

    def _wrap(self, total: int, sets_carry: bool, line: str) -> int:
        """A carry that nothing takes up is an error, but a word may wrap below zero: 0 − borrow, or x − 1."""
        overflows = total != total & MASK
        if sets_carry:
            self.carry = int(overflows)
        else:
            assert not overflows or line.startswith("sub"), f"a carry is lost: {line}"
        return total & MASK
