"""Several hosts behind one queue: which of them takes the next proof, and what becomes of it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from policy import Circuit, Complete, Decision, Event, Fail, Priority, Proved, Reject
from sim.clock import Clock
from sim.errors import SimError, UnplayableError
from sim.host import SimulatedHost
from sim.outlook import Outlook
from sim.workload import Request

Done = Callable[["Ticket", bool], None]
MOST_LOSSES = 1_000
"""Of a host's proofs to one death after another without one that ends: then none ever will."""


@dataclass(slots=True)
class Ticket:
    """A request on its way: since when, how often it was tried, and on which host it is now."""

    request: Request
    arrived_s: float
    done: Done
    order: int
    left: int = 0  # partitions that are not proved yet
    failures: int = 0
    attempts: int = 0
    host: SimulatedHost | None = None
    job_id: str = ""


@dataclass
class Cluster:
    """One host takes all at once: its policy is the queue. Of several each takes a proof when none of its own
    of that priority or a more urgent one waits for admission, and of those that may, the one that would be
    done with it first (least work left: Harchol-Balter, Performance Modeling and Design of Computer Systems,
    2013, chapter 24), be that by having less to do or by having its keys in memory.

    A proof that fails is tried again `retries` times.
    """

    env: Clock
    retries: int
    hosts: list[SimulatedHost] = field(default_factory=list)
    on_unfinished: Callable[[float, int], None] = lambda _at_s, _more: None
    retried: int = 0

    def __post_init__(self) -> None:
        self._lines: dict[tuple[Priority, str], deque[Ticket]] = {}
        self._on_hosts: dict[str, Ticket] = {}
        self._orders = count()
        self._fits: dict[str, list[SimulatedHost]] = {}
        self._due = False
        self._losses = 0  # since a proof ended
        self.away_s = 0.0  # of hosts that were lost, together, while proofs waited that they might take
        self._away: list[SimulatedHost] = []  # hosts that are lost now
        self._counted_s = 0.0
        self._outlooks: dict[str, Outlook] = {}  # by the host, where there are several

    def check(self, circuits: Sequence[Circuit]) -> None:
        """Raises SimError for a circuit that fits no host, with what would fit."""
        for circuit in circuits:
            whys = {host.modelled.name: host.refusal(circuit) for host in self.hosts}
            self._fits[circuit.name] = [host for host in self.hosts if whys[host.modelled.name] is None]
            if not self._fits[circuit.name]:
                name, why = next(iter(whys.items()))
                raise SimError(f"{circuit.name} never fits: on host {name} {why}")
        if len(self.hosts) > 1:
            self._outlooks = {host.modelled.name: Outlook(host) for host in self.hosts}

    def submit(self, request: Request, done: Done) -> None:
        """`done(ticket, succeeded)` is called when it has ended."""
        self.on_unfinished(self.env.now, request.partitions)
        self._enqueue(Ticket(request, self.env.now, done, next(self._orders)))
        self.dispatch()

    def dispatch(self) -> None:
        """Let hosts take what they may."""
        while self._lines and self._dispatch_one():
            pass

    def watch(self, _at_s: float, event: Event, _decisions: Sequence[Decision]) -> None:
        """A host's event may let it take another proof, once it has executed what it decided."""
        if self._outlooks and isinstance(event, Proved):
            self._work(self._on_hosts[event.partition.job_id], -1)
        if self._lines and not self._due:
            self._due = True
            self.env.call_in(0.0, self._dispatch_due, None)

    def _dispatch_due(self, _nothing: None) -> None:
        self._due = False
        self.dispatch()

    def count_away(self) -> None:
        """Up to now; before anything changes of which `away_s` is made."""
        if self._away and self._lines:
            wanted = [host for _, name in self._lines for host in self._fits[name]]
            self.away_s += sum(host in wanted for host in self._away) * (self.env.now - self._counted_s)
        self._counted_s = self.env.now

    def take_back(self, host: SimulatedHost) -> None:
        """A host that was lost is there again."""
        self.count_away()
        self._away.remove(host)
        self.dispatch()

    def lose(self, host: SimulatedHost) -> None:
        """The host's process has died: its proofs wait again, first of their kind.

        Raises UnplayableError where that goes on and on and nothing is ever done.
        """
        self.count_away()
        self._away.append(host)
        lost = [ticket for ticket in self._on_hosts.values() if ticket.host is host]
        self._losses += bool(lost)
        if self._losses > MOST_LOSSES * len(self.hosts):
            raise UnplayableError(
                f"never finishes: {self._losses:,} times in {self.env.now:,.0f} s of simulated time a host's "
                "process ended before any proof was done, by faults.process_death or faults.device_loss; "
                "give a longer mean time, of more than a proof takes"
            )
        for ticket in sorted(lost, key=lambda ticket: -ticket.order):
            self._leave(ticket)
            self._enqueue(ticket, first=True)
        self.dispatch()

    def _enqueue(self, ticket: Ticket, first: bool = False) -> None:
        self.count_away()
        request = ticket.request
        line = self._lines.setdefault((request.priority, request.circuit.name), deque())
        line.appendleft(ticket) if first else line.append(ticket)

    def _dispatch_one(self) -> bool:
        for key in sorted(self._lines, key=lambda key: (key[0], self._lines[key][0].order)):
            line = self._lines[key]
            host = self._host_for(line[0].request)
            if host is not None:
                self.count_away()
                ticket = line.popleft()
                if not line:
                    del self._lines[key]
                self._start(ticket, host)
                return True
        return False

    def _host_for(self, request: Request) -> SimulatedHost | None:
        able = [host for host in self._fits[request.circuit.name] if host.up]
        if len(self.hosts) == 1:
            return able[0] if able else None
        able = [host for host in able if not host.meter.waits_before(request.priority)]
        outlooks = self._outlooks
        return min(able, key=lambda host: outlooks[host.modelled.name].seconds(request), default=None)

    def _work(self, ticket: Ticket, partitions: int) -> None:
        """So many more, or fewer, are to be done on the ticket's host."""
        if self._outlooks and ticket.host is not None:
            request, outlook = ticket.request, self._outlooks[ticket.host.modelled.name]
            ticket.left += partitions
            outlook.take(request.priority, partitions * outlook.partition_s(request.circuit))

    def _leave(self, ticket: Ticket) -> None:
        """The host, whatever came of it there."""
        del self._on_hosts[ticket.job_id]
        self._work(ticket, -ticket.left)
        ticket.host = None

    def _start(self, ticket: Ticket, host: SimulatedHost) -> None:
        job = ticket.request.job(ticket.attempts)
        ticket.attempts += 1
        ticket.host, ticket.job_id = host, job.id
        self._on_hosts[job.id] = ticket
        self._work(ticket, ticket.request.partitions)
        end = host.submit(job)
        assert end.callbacks is not None, "a job that has just begun has not ended"
        end.callbacks.append(lambda end: self._ended(ticket, end.value))

    def _ended(self, ticket: Ticket, decision: Any) -> None:
        if isinstance(decision, Reject):
            raise SimError(f"{decision.job_id} was rejected: {decision.why}")
        assert isinstance(decision, Complete | Fail), f"{decision!r} is no end of a job"
        self._leave(ticket)
        self._losses = 0
        if isinstance(decision, Fail) and ticket.failures < self.retries:
            ticket.failures += 1
            self.retried += 1
            self._enqueue(ticket)
            self.dispatch()
            return
        self.on_unfinished(self.env.now, -ticket.request.partitions)
        ticket.done(ticket, isinstance(decision, Complete))
