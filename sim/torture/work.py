"""Loads and stages on the tortured machine: when each ends, what it reports, and how it heeds a stop."""

from collections.abc import Callable

from policy import (
    Event,
    Failed,
    Load,
    Loaded,
    LoadFailed,
    PartitionId,
    Prove,
    Proved,
    QuotientDone,
    Stop,
    Synthesize,
    Synthesized,
    Verified,
)
from sim.clock import Clock
from sim.torture.case import Pace, Stage

Step = tuple[PartitionId, Callable[[PartitionId], None]]


class Work:
    """Reports by `send`, and tells `reached` of every stage before the report of it."""

    def __init__(
        self,
        env: Clock,
        pace: Pace,
        numbers: dict[str, int],
        failing_loads: set[int],
        loaded_shares: tuple[float, ...],
        send: Callable[[Event], None],
        reached: Callable[[PartitionId, Stage], None],
    ) -> None:
        """`numbers` of the jobs by their ids, and those of the loads that fail; see `Case.loaded`."""
        self._env, self._pace, self._numbers = env, pace, numbers
        self._failing_loads, self._loaded_shares = failing_loads, loaded_shares
        self._send, self._reached = send, reached
        self._next: dict[PartitionId, Step] = {}  # what ends the present one
        self._stopping: set[PartitionId] = set()
        self._loads: dict[str, Loaded | LoadFailed] = {}  # how each will end
        self._load_count = 0

    def clear(self) -> None:
        """All work is gone, as in a dead process."""
        self._next.clear()
        self._stopping.clear()
        self._loads.clear()

    def drop(self, partition: PartitionId) -> None:
        """The partition's work has ended where it was."""
        self._next.pop(partition, None)
        self._stopping.discard(partition)

    def load(self, decision: Load) -> None:
        self._load_count += 1
        key, number = decision.entry.key, self._load_count
        fails = number in self._failing_loads
        event = LoadFailed(key, "disk") if fails else Loaded(key, self._size_bytes(decision, number))
        delay_s = self._pace.load_s * self._pace.draw(number, 0, 0)
        self._loads[key] = event
        self._env.call_in(delay_s, self._load_ended, event)

    def _size_bytes(self, decision: Load, number: int) -> int | None:
        """What the entry takes; for the same entry it may be another the next time."""
        shares = self._loaded_shares
        return int(decision.entry.size_bytes * shares[number % len(shares)]) if shares else None

    def _load_ended(self, event: Loaded | LoadFailed) -> None:
        if self._loads.get(event.entry_key) is event:
            del self._loads[event.entry_key]
            self._send(event)

    def _draw(self, partition: PartitionId, kind: int) -> float:
        return self._pace.draw(self._numbers[partition.job_id], partition.index, kind)

    def _step(self, partition: PartitionId, delay_s: float, then: Callable[[PartitionId], None]) -> None:
        """The one thing that happens next to the partition, unless another comes before."""
        step = self._next[partition] = (partition, then)
        self._env.call_in(delay_s, self._stepped, step)

    def _stepped(self, step: Step) -> None:
        partition, then = step
        if self._next.get(partition) is step:
            del self._next[partition]
            then(partition)

    def synthesize(self, decision: Synthesize) -> None:
        partition = decision.partition
        self._reached(partition, "synthesizing")
        self._step(partition, self._pace.synthesize_s * self._draw(partition, 1), self._synthesized)

    def _synthesized(self, partition: PartitionId) -> None:
        """If it was to be stopped meanwhile, that is answered after."""
        if partition in self._stopping:
            self._step(partition, self._draw(partition, 6), self._stopped)
        self._reached(partition, "synthesized")
        self._send(Synthesized(partition))

    def prove(self, decision: Prove) -> None:
        """Some provers do not report the quotient."""
        partition = decision.partition
        self._reached(partition, "proving")
        reports = self._draw(partition, 3) < 2.0
        delay_s = self._pace.prove_s * self._draw(partition, 2)
        self._step(partition, delay_s, self._quotient_done if reports else self._proved)

    def _quotient_done(self, partition: PartitionId) -> None:
        self._reached(partition, "quotient")
        self._step(partition, self._draw(partition, 4), self._proved)
        self._send(QuotientDone(partition))

    def _proved(self, partition: PartitionId) -> None:
        self._reached(partition, "proved")
        self._step(partition, self._draw(partition, 5), self._verified)
        self._send(Proved(partition))

    def _verified(self, partition: PartitionId) -> None:
        self.drop(partition)
        self._send(Verified(partition))

    def stop(self, decision: Stop) -> None:
        """Work heeds a stop at once, after a while, or never; what lies between two stages is dropped."""
        partition = decision.partition
        self._stopping.add(partition)
        patience = self._draw(partition, 7)
        if partition not in self._next:
            self._step(partition, patience, self._stopped)
        elif patience < 1.0:
            self._step(partition, 0.0, self._stopped)
        elif patience < 2.0:
            self._step(partition, patience, self._stopped)

    def _stopped(self, partition: PartitionId) -> None:
        self.drop(partition)
        self._send(Failed(partition, "stopped"))
