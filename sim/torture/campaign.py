"""Many seeds, over several processes."""

import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from sim.errors import SimError
from sim.garbage import uncollected
from sim.processes import interrupts_left_to_us, processes
from sim.torture.trial import Finding, run_seed

PARTITIONS_AT_ONCE = 2_000  # a third of a second: an interrupt waits no longer


@dataclass(frozen=True)
class Share:
    """What some seeds in a row came to; `cpu_s` of the process that ran them."""

    seeds: int
    partitions: int
    events: int
    cpu_s: float
    findings: list[Finding] = field(default_factory=list)

    def __add__(self, other: "Share") -> "Share":
        return Share(
            self.seeds + other.seeds,
            self.partitions + other.partitions,
            self.events + other.events,
            self.cpu_s + other.cpu_s,
            self.findings + other.findings,
        )


def run_seeds(seeds: range, partitions: int, count: int) -> Iterator[Share]:
    """Run them all in `count` processes, whatever is found. Raises SimError where one of those dies."""
    size = max(1, PARTITIONS_AT_ONCE // partitions)
    shares = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    if count == 1 or len(shares) == 1:
        for share in shares:
            yield run_share(share, partitions)
        return
    try:
        with processes(min(count, len(shares))) as pool:
            yield from _spread(pool, shares, partitions, in_flight=2 * count)
    except BrokenProcessPool as error:
        raise SimError(
            "a process of the torture died, perhaps for lack of memory; use fewer --jobs"
        ) from error


def _spread(
    pool: ProcessPoolExecutor, shares: list[range], partitions: int, in_flight: int
) -> Iterator[Share]:
    running: set[Future[Share]] = set()
    for share in shares:
        with interrupts_left_to_us():
            running.add(pool.submit(run_share, share, partitions))
        if len(running) == in_flight:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from [each.result() for each in done]
    for each in running:
        yield each.result()


def run_share(seeds: range, partitions: int) -> Share:
    began_s = time.process_time()
    with uncollected():
        outcomes = [run_seed(seed, partitions) for seed in seeds]
    return Share(
        len(seeds),
        sum([outcome.admitted for outcome in outcomes]),
        sum([len(outcome.log) for outcome in outcomes]),
        time.process_time() - began_s,
        [outcome.finding for outcome in outcomes if outcome.finding is not None],
    )
