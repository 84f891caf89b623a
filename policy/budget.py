"""Bytes that are promised: a limit, what is reserved of it, and receipts that give back what they took."""

NO_LIMIT = 1 << 100


class Budget:
    """Reserved bytes never exceed the limit (None: no limit, only counted); the rest is free.

    A limit lowered below what is reserved lets nothing new in: less than nothing is free until receipts for
    the excess have come back.
    """

    __slots__ = ("free_bytes", "limit_bytes", "peak_bytes", "reserved_bytes")

    def __init__(self, limit_bytes: int | None) -> None:
        self.limit_bytes = limit_bytes
        self.free_bytes = NO_LIMIT if limit_bytes is None else limit_bytes
        self.reserved_bytes = 0
        self.peak_bytes = 0

    def reserve(self, size_bytes: int) -> "Reservation":
        assert size_bytes >= 0, f"reserving {size_bytes} bytes"
        assert size_bytes <= self.free_bytes, f"{self}: no room for {size_bytes} bytes"
        self.free_bytes -= size_bytes
        self.reserved_bytes += size_bytes
        if self.reserved_bytes > self.peak_bytes:
            self.peak_bytes = self.reserved_bytes
        return Reservation(self, size_bytes)

    def resize(self, limit_bytes: int | None) -> None:
        self.limit_bytes = limit_bytes
        self.free_bytes = (NO_LIMIT if limit_bytes is None else limit_bytes) - self.reserved_bytes

    def __repr__(self) -> str:
        return f"Budget({self.reserved_bytes} of {self.limit_bytes})"


class Reservation:
    """A receipt for `size_bytes` of a budget. What is given back is what was recorded, and only once."""

    __slots__ = ("_budget", "size_bytes")

    def __init__(self, budget: Budget, size_bytes: int) -> None:
        self._budget: Budget | None = budget
        self.size_bytes = size_bytes

    def release_part(self, part_bytes: int) -> None:
        """Give back some of it and keep the rest."""
        budget, size_bytes = self._budget, self.size_bytes
        assert budget is not None, "part of a reservation given back after the whole"
        assert 0 <= part_bytes <= size_bytes, f"{part_bytes} of {size_bytes} bytes given back"
        self.size_bytes = size_bytes - part_bytes
        budget.free_bytes += part_bytes
        budget.reserved_bytes -= part_bytes

    def release(self) -> None:
        """Give back what is left of it."""
        budget, size_bytes = self._budget, self.size_bytes
        assert budget is not None, "reservation given back twice"
        self._budget, self.size_bytes = None, 0
        budget.free_bytes += size_bytes
        budget.reserved_bytes -= size_bytes
