"""A device that does one thing at a time, and the work of a partition that proves on it."""

from collections import deque
from collections.abc import Callable
from typing import Any

from simpy import Environment

from policy import PartitionId, Proved, QuotientDone, Verified
from policy.events import Event
from sim.alarms import Alarm, call_in
from sim.profile import MachineProfile


class Proving:
    """A partition from its `Prove` to its check. Once it is stopped nothing is said of it any more."""

    __slots__ = ("partition", "prove_s", "proved", "stopped", "verify_s")

    def __init__(self, partition: PartitionId, prove_s: float, verify_s: float) -> None:
        self.partition = partition
        self.prove_s = prove_s
        self.verify_s = verify_s
        self.stopped = False
        self.proved = False  # and only checked from now on


class SerialDevice:
    """Host work before, the part for which a partition has the device to itself, host work after, the check.

    However many workers a device has, only the host parts overlap. First come first served.
    """

    def __init__(
        self,
        env: Environment,
        profile: MachineProfile,
        send: Callable[[Event], None],
        ended: Callable[[PartitionId], Any],
    ) -> None:
        """`ended` is called with the partition before its `Verified` is sent."""
        self._env, self._send, self._ended = env, send, ended
        self._before, self._after = profile.host_before_share, profile.host_after_share
        device_share = 1 - self._before - self._after
        self._to_quotient = device_share * profile.quotient_share
        self._from_quotient = device_share * (1 - profile.quotient_share)
        self._waiting: deque[Proving] = deque()
        self._busy: Proving | None = None
        self._entered_s = 0.0
        self.busy_s = 0.0  # of those that have left

    def prove(self, proving: Proving) -> None:
        if self._before:
            call_in(self._env, proving.prove_s * self._before, self._host_is_ready, proving)
        else:
            self._arrive(proving)

    def stop(self, proving: Proving) -> None:
        proving.stopped = True
        if proving is self._busy:
            self._next()
        elif proving in self._waiting:
            self._waiting.remove(proving)

    def _host_is_ready(self, alarm: Alarm) -> None:
        if not alarm.subject.stopped:
            self._arrive(alarm.subject)

    def _arrive(self, proving: Proving) -> None:
        if self._busy is None:
            self._enter(proving)
        else:
            self._waiting.append(proving)

    def _enter(self, proving: Proving) -> None:
        self._busy = proving
        self._entered_s = self._env.now
        call_in(self._env, proving.prove_s * self._to_quotient, self._quotient, proving)

    def _quotient(self, alarm: Alarm) -> None:
        proving = alarm.subject
        if not proving.stopped:
            call_in(self._env, proving.prove_s * self._from_quotient, self._leave, proving)
            self._send(QuotientDone(proving.partition))

    def _leave(self, alarm: Alarm) -> None:
        proving = alarm.subject
        if proving.stopped:
            return
        self._next()
        if self._after:
            call_in(self._env, proving.prove_s * self._after, self._proved, proving)
        else:
            self._proved(alarm)

    def _next(self) -> None:
        self.busy_s += self._env.now - self._entered_s
        self._busy = None
        if self._waiting:
            self._enter(self._waiting.popleft())

    def _proved(self, alarm: Alarm) -> None:
        proving = alarm.subject
        if not proving.stopped:
            proving.proved = True
            call_in(self._env, proving.verify_s, self._verified, proving)
            self._send(Proved(proving.partition))

    def _verified(self, alarm: Alarm) -> None:
        proving = alarm.subject
        if not proving.stopped:
            self._ended(proving.partition)
            self._send(Verified(proving.partition))
