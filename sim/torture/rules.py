"""The rules of admission, checked after every event on the checker's own books.

1. Reserved bytes never exceed the budget, nor a device's own memory; slots and workers neither, and a lost
   device has none.
2. What can never fit is rejected at submit, and nothing else is.
3. A partition is admitted together with all that it needs.
4. Entries in use are never evicted; idle ones least recently used first, not in vain, not young without need.
   The same on devices, where work goes to one that holds its entry, if it can. One that somebody wants gone
   goes if it is idle.
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
    Policy,
    Prove,
    Reject,
    Stop,
    Submit,
    Synthesize,
    Unload,
    Upload,
    WakeAt,
)
from sim.torture import answers, room
from sim.torture.asking import Questions
from sim.torture.books import Books
from sim.torture.holdings import Held
from sim.torture.line import Group
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
        self._questions = Questions(policy, self.books, ask_every)
        self._waits = Waits() if ask_every == 1 else None

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
        elif type(event) is Unload:
            answers.goes_if_idle(self.books, event, decisions)
        self._check()
        self._questions.ask(event)
        if self._waits is not None:
            self._waits.compare(self.policy, self.books)
        return decisions

    def _execute(self, event: Event, decisions: list[Decision]) -> None:
        if len(decisions) > 1:
            turns = [TURNS[type(decision)] for decision in decisions]
            if turns != sorted(turns):
                expect(3, False, "decisions out of order: %s", decisions)
        books = self.books
        if type(event) is Submit:
            answers.refused_only_if_impossible(books, event, decisions)
        elif type(event) is Unload:
            decisions = answers.goes_if_idle(books, event, decisions)
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

    def _check(self) -> None:
        books = self.books
        self._counts_agree()
        books.none_before_proof()
        if books.failed_now or books.ended_now is not None:
            self._ends_are_told()
        if len(books.admitted) > books.limits.synthesis_slots:
            expect(7, False, "more were admitted ahead of need than can synthesize next")
        if books.queue:
            self._nothing_could_prove()
        self._nothing_could_start()

    def _counts_agree(self) -> None:
        """Rules 3 and 6."""
        books, policy = self.books, self.policy
        reserved_bytes, host_bytes = policy.reserved_bytes, books.host_bytes
        if reserved_bytes != host_bytes:
            expect(6, False, "%s bytes are reserved, %s are held", reserved_bytes, host_bytes)
        if policy.idle is bool(books.jobs):
            expect(6, False, "the policy's jobs are not those that run")
        if host_bytes > books.limit_bytes:
            expect(1, not books.idle_bytes, "idle entries stay in a budget that is exceeded")
        reserved = policy.device_reserved_bytes
        for name, device in books.devices.items():
            if reserved(name) != device.used_bytes:
                bytes_there, held_bytes = reserved(name), device.used_bytes
                expect(6, False, "%s bytes of %s are reserved, %s held", bytes_there, name, held_bytes)

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
            device_bytes = held.expected.device_bytes
            for device in books.devices.values():
                if device.could_take(held.circuit, device_bytes):
                    expect(7, False, "%s could prove", held.id)

    def _nothing_could_start(self) -> None:
        """Whatever waits has no room, or gives way to somebody who was overtaken too often."""
        books = self.books
        admitted, groups, queued = books.admitted, books.line.groups, len(books.queue)
        if not (admitted or groups):
            return
        may_synthesize = room.lookahead_open(books, queued, books.synthesizing, books.idle_workers)
        may_load = len(admitted) < books.limits.synthesis_slots
        if may_synthesize:
            for held in admitted.values():
                if books.in_memory(held.expected):
                    expect(7, False, "%s could synthesize", held.id)
        if not (groups and (may_synthesize or may_load)):
            return
        if books.wake_at_s is not None and books.wake_at_s <= books.now_s:
            return  # the timer's event comes at this very moment, after this one
        if books.limits.lookahead_bytes is not None and not room.bytes_open(
            books, books.ahead_bytes, books.ahead_count, books.idle_workers
        ):
            return
        last = books.line.last_rank()
        for group in groups:
            if group.head.rank > last:
                continue
            if not (may_synthesize if books.in_memory(group.expected) else may_load):
                continue
            if books.wake_at_s is None or not room.may_gather(books, group):
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
