"""How a kernel is spread over threads, without knowing whose threads they are.

Kernels take a range and never start threads. Whoever calls them passes a `Run`, which calls the kernel
once for each tuple of arguments. Kernels release the GIL, so threads of one pool work side by side.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from contextvars import copy_context
from itertools import pairwise
from typing import Any

Arguments = tuple[Any, ...]
Run = Callable[[Callable[..., Any], Sequence[Arguments]], list[Any]]
"""run(kernel, arguments): kernel(*a) for each a; all results in order, or the first error once none runs."""


class Stopped(Exception):  # noqa: N818 — it is no error: somebody asked for it
    """The work was asked to stop between two chunks; what it was writing is unfinished."""


def serial(kernel: Callable[..., Any], arguments: Sequence[Arguments]) -> list[Any]:
    """Runs everything in the calling thread."""
    return [kernel(*each) for each in arguments]


class PoolRunner:
    """A `Run` over an executor's threads. Must not be called from a thread of that executor: it waits.

    threads: how many chunks to cut work into at least (see `threads_of`).
    stopped: looked at before each chunk; once it is true, `Stopped` is raised.
    Each chunk runs in a copy of the caller's context (`contextvars`), so that its `Meter` counts there too.
    """

    def __init__(self, executor: Executor, threads: int, stopped: Callable[[], bool] | None = None) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.threads = threads
        self._executor = executor
        self.stopped = stopped

    def __call__(self, kernel: Callable[..., Any], arguments: Sequence[Arguments]) -> list[Any]:
        futures: list[Future[Any]] = []
        try:
            futures.extend(
                self._executor.submit(copy_context().run, self._step, kernel, each) for each in arguments
            )
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:  # nobody may go on while a chunk still writes into the caller's arrays
            started = [future for future in futures if not future.cancel()]
            wait(started)
        for future in started:
            future.result()
        return [future.result() for future in futures]

    def _step(self, kernel: Callable[..., Any], arguments: Arguments) -> Any:
        check_stop(self)
        return kernel(*arguments)


def check_stop(run: Run) -> None:
    """Raise Stopped if what `run` works for is to end; for work between two calls of `run`."""
    stopped = getattr(run, "stopped", None)
    if stopped is not None and stopped():
        raise Stopped


def threads_of(run: Run) -> int:
    """How many threads `run` has: what to size chunks for. 1 for a plain function such as `serial`."""
    return int(getattr(run, "threads", 1))


def chunks(n: int, parts: int) -> list[tuple[int, int]]:
    """[0, n) as at most `parts` ranges (start, stop) that differ in length by at most one; none is empty."""
    parts = min(parts, n)
    return [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]


def balanced_chunks(n: int, cost_before: Callable[[int], int], parts: int) -> list[tuple[int, int]]:
    """[0, n) as at most `parts` ranges of about the same cost; none is empty.

    cost_before(i): what [0, i) costs, which must not fall with i; asked for a few i only.
    """
    total = cost_before(n)
    cuts = [bisect_left(range(n), total * i // parts, key=cost_before) for i in range(1, parts)]
    return [(start, stop) for start, stop in pairwise([0, *cuts, n]) if start < stop]


def run_chunks(
    run: Run, kernel: Callable[..., Any], n: int, *arguments: Any, minimum: int = 1024
) -> list[Any]:
    """kernel(*arguments, start, stop) over [0, n), in about four chunks a thread of at least `minimum`.

    More chunks than threads, so that one slow thread does not hold up the rest and a stop is noticed soon.
    """
    parts = max(1, min(4 * threads_of(run), n // minimum))
    return run(kernel, [(*arguments, start, stop) for start, stop in chunks(n, parts)])
