"""Devices that prove: those that do one thing at a time, and the processors, which do all at once."""

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from policy import Measured, PartitionId, Proved, QuotientDone, Verified
from policy.events import Event
from sim.clock import Clock
from sim.contention import Cores
from sim.profile import MachineProfile
from sim.shared import Piece, SharedWork


class Proving:
    """A partition from its `Prove` to its check. Once it is stopped nothing is said of it any more."""

    __slots__ = ("partition", "prove_s", "proved", "stopped", "verify_s", "working_bytes")

    def __init__(
        self, partition: PartitionId, prove_s: float, verify_s: float, working_bytes: int | None = None
    ) -> None:
        """`working_bytes`: what its working set will be found to take, where that is found."""
        self.partition = partition
        self.working_bytes = working_bytes
        self.prove_s = prove_s
        self.verify_s = verify_s
        self.stopped = False
        self.proved = False  # and only checked from now on


class ProvingDevice(Protocol):
    """Takes a partition's proving from its `Prove` on and sends what comes of it."""

    busy_s: float

    def prove(self, proving: Proving) -> None: ...
    def stop(self, proving: Proving) -> None: ...


class Checks:
    """What is common to all devices: proofs are told of, checked, and told of again."""

    def __init__(
        self, env: Clock, send: Callable[[Event], None], ended: Callable[[PartitionId], Any]
    ) -> None:
        """`ended` is called with the partition before its `Verified` is sent."""
        self._env, self._send, self._ended = env, send, ended
        self.busy_s = 0.0

    def _proved(self, proving: Proving, check_s: float) -> None:
        proving.proved = True
        self._env.call_in(check_s, self._verified, proving)
        self._send(Proved(proving.partition))

    def _verified(self, proving: Proving) -> None:
        if not proving.stopped:
            self._ended(proving.partition)
            self._send(Verified(proving.partition))


class HostWork:
    """The CPU work of proofs on all devices of a machine, before and after the parts that devices do.

    How long it takes follows from what is at work when it begins, since it does not last long; what it takes
    of synthesis meanwhile is left out for the same reason.
    """

    def __init__(self, profile: MachineProfile, synthesis: SharedWork) -> None:
        """`at_work`: whoever ends such work takes one away."""
        self.synthesis, self.at_work = synthesis, 0
        self._stretch = None if profile.cores is None else cache(profile.cores.host_stretch)

    def begin_s(self, alone_s: float) -> float:
        """How long it will take, from now to its end."""
        self.at_work += 1
        if self._stretch is None:
            return alone_s
        return alone_s * self._stretch(self.at_work, self.synthesis.running)


class SerialDevice(Checks):
    """Host work before, the part for which a partition has the device to itself, host work after, the check.

    However many workers a device has, only the host parts overlap. First come first served.
    """

    def __init__(
        self,
        env: Clock,
        profile: MachineProfile,
        send: Callable[[Event], None],
        ended: Callable[[PartitionId], Any],
        host_work: HostWork,
    ) -> None:
        super().__init__(env, send, ended)
        self._host_work = host_work
        self._before, self._after = profile.host_before_share, profile.host_after_share
        device_share = 1 - self._before - self._after
        self._to_quotient = device_share * profile.quotient_share
        self._from_quotient = device_share * (1 - profile.quotient_share)
        self._synthesis, self._slowdown = host_work.synthesis, profile.device_slowdown
        self._waiting: deque[Proving] = deque()
        self._busy: Proving | None = None
        self._entered_s = 0.0

    def prove(self, proving: Proving) -> None:
        if self._before:
            host_s = self._host_work.begin_s(proving.prove_s * self._before)
            self._env.call_in(host_s, self._host_is_ready, proving)
        else:
            self._arrive(proving)

    def stop(self, proving: Proving) -> None:
        proving.stopped = True
        if proving is self._busy:
            self._next()
        elif proving in self._waiting:
            self._waiting.remove(proving)

    def _host_is_ready(self, proving: Proving) -> None:
        self._host_work.at_work -= 1
        if not proving.stopped:
            self._arrive(proving)

    def _arrive(self, proving: Proving) -> None:
        if self._busy is None:
            self._enter(proving, self._env.now)
        else:
            self._waiting.append(proving)

    def _enter(self, proving: Proving, now_s: float) -> None:
        self._busy, self._entered_s = proving, now_s
        self._env.call_in(proving.prove_s * self._to_quotient * self._slowed(), self._quotient, proving)

    def _quotient(self, proving: Proving) -> None:
        if not proving.stopped:
            self._env.call_in(proving.prove_s * self._from_quotient * self._slowed(), self._leave, proving)
            self._send(QuotientDone(proving.partition))

    def _slowed(self) -> float:
        """How many times as long the device takes, by what synthesizes when it begins."""
        return 1.0 + self._synthesis.running * self._slowdown

    def _leave(self, proving: Proving) -> None:
        if proving.stopped:
            return
        self._next()
        if self._after:
            host_s = self._host_work.begin_s(proving.prove_s * self._after)
            self._env.call_in(host_s, self._host_is_done, proving)
        else:
            self._proved(proving, proving.verify_s)

    def _next(self) -> None:
        now_s = self._env.now
        self.busy_s += now_s - self._entered_s
        self._busy = None
        if self._waiting:
            self._enter(self._waiting.popleft(), now_s)

    def _host_is_done(self, proving: Proving) -> None:
        self._host_work.at_work -= 1
        if not proving.stopped:
            self._proved(proving, proving.verify_s)


class Processors(Checks):
    """Partitions that prove share the cores with each other and with synthesis.

    A check takes as long as follows from what is at work when it begins, since it does not last long.
    """

    def __init__(
        self,
        env: Clock,
        profile: MachineProfile,
        send: Callable[[Event], None],
        ended: Callable[[PartitionId], Any],
        cores: Cores,
        synthesis: SharedWork,
    ) -> None:
        super().__init__(env, send, ended)
        self._quotient_share, self._synthesis = profile.quotient_share, synthesis
        self._work = SharedWork(env, cores.proving_stretch, by_size=cores.by_size)
        self._work.beside(synthesis)
        self._check_stretch = cache(cores.check_stretch)
        self._pieces: dict[Proving, Piece] = {}
        self._since_s = 0.0

    def prove(self, proving: Proving) -> None:
        if not self._pieces:
            self._since_s = self._env.now
        self._pieces[proving] = self._work.begin(
            proving.prove_s * self._quotient_share, self._quotient, proving
        )

    def stop(self, proving: Proving) -> None:
        proving.stopped = True
        if proving in self._pieces:
            self._work.abandon(self._pieces[proving])
            self._leave(proving)

    def _quotient(self, proving: Proving) -> None:
        rest_s = proving.prove_s * (1 - self._quotient_share)
        self._pieces[proving] = self._work.begin(rest_s, self._done, proving)
        self._send(QuotientDone(proving.partition))

    def _done(self, proving: Proving) -> None:
        self._leave(proving)
        if proving.working_bytes is not None:
            self._send(Measured(proving.partition, proving.working_bytes))
        stretch = self._check_stretch(self._synthesis.running, self._work.running)
        self._proved(proving, proving.verify_s * stretch)

    def _leave(self, proving: Proving) -> None:
        del self._pieces[proving]
        if not self._pieces:
            self.busy_s += self._env.now - self._since_s
