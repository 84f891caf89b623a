"""The rules of admission, checked after every event on the checker's own books.

1. Reserved bytes never exceed the budget, nor a device's own memory; slots and workers neither, and a lost
   device has none.
2. What can never fit is rejected at submit, and nothing else is.
3. A partition is admitted together with all that it needs.
4. Entries in use are never evicted; idle ones least recently used first, not in vain, not young without need.
   The same on devices, where work goes to one that holds its entry, if it can.
5. Nobody starves: turns by priority with ageing, and overtaken a bounded number of times.
6. A release gives back what was taken, once: the policy's books say what the machine holds.
7. If something could start, something starts; if time alone makes room, a timer is set.
And whoever waits has one cause, which `explain` puts into a sentence.
"""

from collections.abc import Callable

from policy import (
    Admit,
    Complete,
    Decision,
    Event,
    Evict,
    EvictFromDevice,
    Fail,
    Limits,
    Load,
    PartitionId,
    Policy,
    Prove,
    Reject,
    Stop,
    Submit,
    Synthesize,
    Upload,
    WakeAt,
)
from sim.torture import answers, room
from sim.torture.books import Books
from sim.torture.holdings import Held
from sim.torture.line import Group, Waiting
from sim.torture.violation import expect
from sim.torture.waits import Waits

TURNS = {
    Stop: 0,
    Evict: 1,
    Admit: 2,
    Load: 3,
    Synthesize: 4,
    EvictFromDevice: 5,
    Upload: 5,
    Prove: 5,
    Complete: 6,
    Fail: 6,
    Reject: 6,
    WakeAt: 7,
}
ASK_ONE_EVERY = 8
HasRoom = Callable[[Books, Group, room.Idle], bool]


class CheckedPolicy:
    """A policy that raises `ViolationError` as soon as an answer breaks a rule.

    `has_room` says what the policy admits by. After every event its partition is asked what it waits for, and
    now and then a job in turn; after every `ask_every`-th event all are. Where that is every event, what each
    has waited is added up too.
    """

    def __init__(
        self, policy: Policy, limits: Limits, has_room: HasRoom = room.in_bytes, ask_every: int = 1
    ) -> None:
        self.policy = policy
        self.books = Books(limits)
        self._has_room = has_room
        self._ask_every = ask_every
        self._waits = Waits() if ask_every == 1 else None
        self._events = 0

    def handle(self, event: Event, now_s: float) -> list[Decision]:
        """The policy's answer. An event that it refuses counts as if nothing had happened."""
        decisions = self.policy.handle(event, now_s)
        if self._waits is not None:
            self._waits.pass_time(now_s)
        self.books.happen(event, now_s)
        if decisions:
            self._execute(event, decisions)
        elif type(event) is Submit:
            answers.refused_only_if_impossible(self.books, event, decisions)
        self._check(event)
        if self._waits is not None:
            self._waits.compare(self.policy, self.books)
        return decisions

    def _execute(self, event: Event, decisions: list[Decision]) -> None:
        if len(decisions) > 1:
            turns = [TURNS[type(decision)] for decision in decisions]
            expect(3, turns == sorted(turns), "decisions out of order: %s", decisions)
        books = self.books
        if type(event) is Submit:
            answers.refused_only_if_impossible(books, event, decisions)
        admits = [each for each in decisions if type(each) is Admit]
        evicts = [each for each in decisions if type(each) is Evict]
        if not (admits or evicts):
            for decision in decisions:
                books.execute(decision)
            return
        before = answers.Before(books, evicts)
        if admits:
            answers.in_turn(books, before, decisions, admits[0], self._has_room)
        self._execute_admissions(decisions)
        if evicts:
            answers.evictions_justified(books, before, [books.partitions[each.partition] for each in admits])

    def _execute_admissions(self, decisions: list[Decision]) -> None:
        """Uses begin when all loads are decided, before any synthesis."""
        books = self.books
        admitted: list[Held] = []
        for decision in decisions:
            if admitted and TURNS[type(decision)] > TURNS[Load]:
                books.use_entries(admitted)
                admitted = []
            books.execute(decision)
            if type(decision) is Admit:
                admitted.append(books.partitions[decision.partition])
        books.use_entries(admitted)

    def _check(self, event: Event) -> None:
        books = self.books
        self._events += 1
        self._counts_agree()
        books.none_before_proof()
        if books.failed_now or books.ended_now is not None:
            self._ends_are_told()
        if len(books.admitted) > books.limits.synthesis_slots:
            expect(7, False, "more were admitted ahead of need than can synthesize next")
        if books.queue:
            self._nothing_could_prove()
        self._nothing_could_start()
        partition = getattr(event, "partition", None)
        if partition is not None:
            self._asked(partition)
        if not self._events % self._ask_every:
            self._all_asked()
        elif not self._events % ASK_ONE_EVERY and books.line:
            groups = books.line.groups
            self._asked_in_line(groups[self._events // ASK_ONE_EVERY % len(groups)].head)

    def _counts_agree(self) -> None:
        """Rules 3 and 6."""
        books, policy = self.books, self.policy
        reserved_bytes = policy.reserved_bytes
        if reserved_bytes != books.host_bytes:
            expect(6, False, "%s bytes are reserved, %s are held", reserved_bytes, books.host_bytes)
        if policy.idle is bool(books.jobs):
            expect(6, False, "the policy's jobs are not those that run")
        if books.host_bytes > books.limit_bytes:
            expect(1, not books.idle_bytes, "idle entries stay in a budget that is exceeded")
        for name, device in books.devices.items():
            reserved_bytes = policy.device_reserved_bytes(name)
            if reserved_bytes != device.used_bytes:
                held_bytes = device.used_bytes
                expect(6, False, "%s bytes of %s are reserved, %s held", reserved_bytes, name, held_bytes)

    def _ends_are_told(self) -> None:
        """What fails is stopped at once, and a job ends with the last of its partitions."""
        books = self.books
        for running in books.failed_now:
            stopped = all(held.stopping for held in running.live.values())
            expect(6, stopped, "job %s failed, and its work goes on", running.job.id)
        ended = books.ended_now
        if ended is not None and not ended.live and (ended.failing or ended.verified == ended.job.partitions):
            expect(6, ended.job.id not in books.jobs, "job %s has nothing left and did not end", ended.job.id)

    def _nothing_could_prove(self) -> None:
        books = self.books
        if not books.idle_workers:
            return
        limit = books.limits.overtake_limit
        queue = books.queue.values()
        if any(held.passed >= limit for held in queue):
            return
        for held in queue:
            device_bytes = books.expected(held.circuit).device_bytes
            for device in books.devices.values():
                if device.could_take(held.circuit, device_bytes):
                    expect(7, False, "%s could prove", held.id)

    def _nothing_could_start(self) -> None:
        """Whatever waits has no room, or gives way to somebody who was overtaken too often."""
        books = self.books
        if not (books.admitted or books.line):
            return
        may_synthesize, may_load = room.may_synthesize(books), room.may_load(books)
        if may_synthesize:
            for held in books.admitted.values():
                expect(7, not books.in_memory(held.circuit), "%s could synthesize", held.id)
        if not (books.line and (may_synthesize or may_load)):
            return
        if books.wake_at_s is not None and books.wake_at_s <= books.now_s:
            return  # the timer's event comes at this very moment, after this one
        if books.limits.lookahead_bytes is not None and not room.bytes_open(
            books, books.ahead_bytes, books.ahead_count, books.idle_workers
        ):
            return
        for group in room.candidates(books):
            may_start = may_synthesize if books.in_memory(group.circuit) else may_load
            gathers = books.wake_at_s is not None and room.may_gather(books, group)
            if may_start and not gathers:
                self._has_none(group)

    def _has_none(self, group: Group) -> None:
        books, head = self.books, group.head.job.id
        if not self._has_room(books, group, room.Idle.FORCED):
            return
        could_start = books.stalled or self._has_room(books, group, room.Idle.OLD)
        expect(7, not could_start, "job %s could start", head)
        if self._has_room(books, group, room.Idle.ALL):
            at_s, timer_s = room.in_bytes_at_s(books, group), books.wake_at_s
            expect(7, timer_s is not None and timer_s <= at_s, "no timer for job %s at %s s", head, at_s)

    def _asked_in_line(self, waiting: Waiting) -> None:
        """Of a job that waits: its next partition, or its last, waits with cause."""
        index = waiting.next
        if self._events & 8 and waiting.next_index < waiting.job.partitions:
            index = waiting.job.partitions - 1
        partition = PartitionId(waiting.job.id, index)
        cause, told = self.policy.wait_cause(partition), self.policy.explain(partition)
        explained = cause is not None and told.startswith(f"{partition} waits for")
        expect(0, explained, "%s waits, and the policy says: %s", partition, told)

    def _asked(self, partition: PartitionId) -> None:
        """One cause for each that waits, none for others, and no question fails."""
        policy, held = self.policy, self.books.partitions.get(partition)
        if held is None:
            return
        waits = held.at in ("admitted", "synthesized") and not held.stopping
        if (policy.wait_cause(partition) is None) is waits:
            expect(0, False, "%s: wrong cause of wait", partition)
        if waits:
            expect(0, policy.explain(partition).startswith(f"{partition} waits for"), "%s: why?", partition)
        if policy.reserved_bytes_of(partition) != held.host_bytes:
            expect(6, False, "%s holds %s bytes", partition, held.host_bytes)

    def _all_asked(self) -> None:
        policy, books = self.policy, self.books
        expect(6, set(policy.partitions()) == books.partitions.keys(), "other partitions are admitted")
        for partition in books.partitions:
            self._asked(partition)
            told = policy.explain(partition).startswith(str(partition))
            expect(0, told, "%s is not explained", partition)
        for waiting in books.line:
            self._asked_in_line(waiting)
