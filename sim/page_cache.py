"""Files that were read and are still in memory that nobody else takes, where the system keeps them."""

from collections import OrderedDict
from collections.abc import Callable


class PageCache:
    """Of one host. What was read last stays longest; an entry in use is a copy of its file, and counts too.

    `most_taken_bytes` says how much of the memory all else took at most since it was last asked.
    """

    def __init__(
        self, memory_bytes: int | None = None, most_taken_bytes: Callable[[], float] = lambda: 0.0
    ) -> None:
        """`memory_bytes` of the host; None: it is not known, and all that was ever read is taken to stay."""
        self._memory_bytes = float("inf") if memory_bytes is None else float(memory_bytes)
        self.most_taken_bytes = most_taken_bytes
        self._files: OrderedDict[str, float] = OrderedDict()  # what is left of each, the last read last

    def share(self, name: str, size_bytes: int) -> float:
        """How much of the file is there."""
        self.make_room()
        return min(1.0, self._files.get(name, 0.0) / size_bytes) if size_bytes else 1.0

    def was_read(self, name: str, size_bytes: int) -> None:
        """To its end: all of it is there, until somebody takes the memory."""
        self._files.pop(name, None)
        self._files[name] = float(size_bytes)

    def make_room(self) -> None:
        """For all else, as much as it took; also before somebody else is asked what that is."""
        excess_bytes = sum(self._files.values()) + self.most_taken_bytes() - self._memory_bytes
        while excess_bytes > 0 and self._files:
            name, left_bytes = next(iter(self._files.items()))
            if left_bytes > excess_bytes:
                self._files[name] = left_bytes - excess_bytes
                return
            del self._files[name]
            excess_bytes -= left_bytes
