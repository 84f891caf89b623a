"""The engine of one run: takes proofs, executes what the policy decides, keeps the history."""

import asyncio
import logging
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from config import Config
from db import new_id
from engine import running
from engine.allocator import give_back_freed_memory
from engine.catalog import CircuitSpec
from engine.circuit import open_circuit
from engine.devices import Devices
from engine.ends import ActiveProof, run_outcome
from engine.errors import EngineError, Rejected
from engine.executor import Executor
from engine.figures import Figures
from engine.ledger import Ledger
from engine.monitor import MemoryMonitor
from engine.outputs import Contents, Outputs
from engine.pools import Pools
from engine.proofs import Bar, Progress, ProofRequest, ProofResult, Stage, StageSummary, makes_proofs
from engine.recorder import NoWriter, Recorder, RunLabels, Writer
from engine.watchdog import Watchdog
from policy import (
    BudgetPolicy,
    Cancel,
    DeviceLost,
    Job,
    Limits,
    PartitionId,
    Policy,
    Resized,
    Unload,
)

log = logging.getLogger("cuzk.engine")


class Engine(Figures):
    """Use as `async with Engine(...) as engine`; all methods belong to that event loop's thread.

    Memory is admitted by the policy, work runs in pools of the engine's own, and waiting for either costs no
    thread. On leaving, whatever is unfinished is cancelled and everything is free before the block ends.

    history_writer: None leaves no history. policy: how work is admitted, by bytes where it is None.
    ledger: through which the budget is shared with other processes; None: this process has all of it.
    """

    def __init__(
        self,
        config: Config,
        limits: Limits,
        history_writer: Writer | None = None,
        run_id: str | None = None,
        labels: RunLabels | None = None,
        policy: Policy | None = None,
        sample_interval_s: float = 0.25,
        ledger: Ledger | None = None,
    ) -> None:
        self.run_id = run_id or new_id()
        self._config, self._limits = config, limits
        self._labels = labels or RunLabels()
        self._policy = policy or BudgetPolicy(limits)
        self._writer = history_writer or NoWriter()
        self._recorder = Recorder(self._writer, self.run_id)
        self._sample_interval_s = sample_interval_s
        self._ledger = ledger
        self._said_bytes: dict[str, int] = {}  # see `open_circuit`

    async def __aenter__(self) -> Self:
        running.enter(self)
        try:
            self._start()
        except BaseException:
            running.leave()
            raise
        return self

    def _start(self) -> None:
        give_back_freed_memory()
        start_s = asyncio.get_running_loop().time()
        devices = Devices(self._limits, lambda name: self._executor.dispatcher.send(DeviceLost(name)))
        if self._ledger is not None:
            self._ledger.join()
        self._pools = Pools(self._config, self._limits)
        timeouts = self._config.timeouts
        self._executor = Executor(
            self._policy, self._pools, devices, self._recorder, start_s, timeouts, self._ledger
        )
        self._recorder.run_started(self._labels, self._config, self._limits, self._policy.name)
        self._executor.start()
        self._monitor = MemoryMonitor(
            self._executor.dispatcher.now_s,
            lambda: self._policy.reserved_bytes,
            self._recorder.sample,
            self._sample_interval_s,
            self._executor.devices_use,
        )
        self._monitor.start()
        self._watchdog = Watchdog(
            lambda: self._executor.dispatcher.taken + self._pools.steps,
            self._executor.explain_all,
            timeouts.stall,
        )
        self._watchdog.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        closing = asyncio.ensure_future(self._close(error))
        interrupted: asyncio.CancelledError | None = None
        while not closing.done():
            try:
                await asyncio.shield(closing)
            except asyncio.CancelledError as again:
                interrupted = again  # closing takes seconds at most, and must be whole
        closing.result()
        if interrupted is not None and error is None:
            raise interrupted

    def submit(self, request: ProofRequest) -> str:
        """Queue a proof and return its id.

        Raises Rejected, with the numbers, for what can never run here or be written there, and InputError or
        EngineError for files that cannot be used.
        """
        if self._executor.closed:
            raise EngineError(
                f"{request.name}: the engine takes no more proofs, it has stopped or is closing"
            )
        circuit = open_circuit(request.circuit, self._said_bytes).up_to(request.until)
        partitions = request.partitions or request.circuit.partitions
        priority = request.circuit.priority if request.priority is None else request.priority
        proof_id = new_id()
        outputs: Outputs | Contents = Contents()
        if request.output_dir is not None and makes_proofs(request.until):
            outputs = Outputs(request.output_dir, partitions, proof_id)
        outputs.prepare()
        proof = ActiveProof(
            request.name, circuit, outputs, Progress(request.name, partitions), until=request.until
        )
        due_s = None if request.due is None else self._seconds_at(request.due)
        self._executor.submit(proof_id, proof, Job(proof_id, circuit.shape, partitions, priority, due_s))
        if isinstance(proof.progress.error, Rejected):
            raise proof.progress.error
        return proof_id

    async def wait_started(self, proof_id: str, stage: Stage, partition: int = 0) -> None:
        """Return once the stage has started; ProofFailed or ProofCancelled where it never will."""
        await self._proof(proof_id).progress.wait_started(stage, partition)

    async def wait_finished(self, proof_id: str, stage: Stage, partition: int = 0) -> StageSummary:
        """The finished stage; ProofFailed or ProofCancelled where it never finishes."""
        proof = self._proof(proof_id)
        seconds = await proof.progress.wait_finished(stage, partition)
        return StageSummary(seconds, proof.circuit.describe(stage))

    def waited_s(self, proof_id: str, partition: int = 0) -> float:
        """How long the partition waited until it was admitted; 0 while it still does."""
        return self._proof(proof_id).progress.waited_s(partition)

    def times_s(self, proof_id: str, bar: Bar, partition: int = 0) -> tuple[float, float] | None:
        """For how many seconds the stage, or the wait before it, began and ended; None where it has not."""
        now_s = self._executor.dispatcher.now_s()
        return self._proof(proof_id).progress.times_s(bar, partition, now_s)

    def active(self, proof_id: str) -> ActiveProof:
        """What is known of the proof, for who is to know it after it was forgotten here."""
        return self._proof(proof_id)

    def has_started(self, proof_id: str, stage: Stage, partition: int = 0) -> bool:
        """Whether the stage has started, or never will."""
        return self._proof(proof_id).progress.has_started(stage, partition)

    def has_finished(self, proof_id: str, stage: Stage, partition: int = 0) -> bool:
        """Whether the stage is finished, or never will be."""
        return self._proof(proof_id).progress.has_finished(stage, partition)

    def shown_by(self, proof_id: str, stage: Stage, partition: int, task_run_id: str) -> None:
        """Note for the history that this Prefect task run shows the stage, which has started."""
        self._proof(proof_id)
        self._recorder.shown_by(PartitionId(proof_id, partition), stage, task_run_id)

    async def result(self, proof_id: str) -> ProofResult:
        """The proof, verified and written; ProofFailed, caused by a stage's error, or ProofCancelled."""
        proof = self._proof(proof_id)
        await proof.progress.wait_ended()
        return proof.result(proof_id)

    def cancel(self, proof_id: str, why: str = "cancelled") -> None:
        """End the proof, whatever state it is in; nothing happens where it has ended."""
        self._proof(proof_id).cancelled = why
        self._executor.dispatcher.send(Cancel(proof_id))

    def forget(self, proof_id: str) -> None:
        """Keep nothing of a proof that has ended: nobody asks for it any more."""
        if not self._proof(proof_id).progress.ended:
            raise EngineError(f"proof {proof_id} has not ended, so it cannot be forgotten")
        self._executor.forget(proof_id)

    def has_ended(self, proof_id: str) -> bool:
        """Whether the proof is made, has failed or was cancelled."""
        return self._proof(proof_id).progress.ended

    def explain(self, proof_id: str, partition: int = 0) -> str:
        """One sentence: what the partition does or waits for."""
        proof = self._proof(proof_id)
        if proof.progress.ended:
            return f"{PartitionId(proof_id, partition)} has ended"
        return self._executor.explain(PartitionId(proof_id, partition))

    def resize(self, budget_bytes: int) -> None:
        """The budget is another from now on; what waits and can never fit it fails."""
        if self._ledger is not None:
            self._ledger.resize(budget_bytes)
        self._executor.dispatcher.send(Resized(budget_bytes))

    def unload(self, circuit: CircuitSpec) -> int:
        """Let go of what the circuit's proofs share with others, where none uses it; the bytes that freed."""
        keys = [entry.key for entry in open_circuit(circuit, self._said_bytes).shape.entries]
        held_bytes = self.reserved_bytes
        for key in keys:
            self._executor.dispatcher.send(Unload(key))
        return held_bytes - self.reserved_bytes

    def _seconds_at(self, moment: datetime) -> float:
        """On the engine's clock, which begins with the run."""
        return self._executor.dispatcher.now_s() + (moment - datetime.now(UTC)).total_seconds()

    def _proof(self, proof_id: str) -> ActiveProof:
        try:
            return self._executor.proofs[proof_id]
        except KeyError:
            raise EngineError(f"proof {proof_id} was never submitted to this engine") from None

    async def _close(self, error: BaseException | None) -> None:
        try:
            await self._executor.close()
            await self._pools.blocking(self._watchdog.stop)
            self._monitor.stop()
            errors = [self._executor.dispatcher.error, error, *self._executor.forgotten_errors]
            errors += [proof.progress.error for proof in self._executor.proofs.values()]
            state, why = run_outcome(errors)
            self._recorder.run_ended(
                state, why, self._monitor.peak_rss_bytes, self._policy.peak_reserved_bytes
            )
            await self._pools.blocking(self._writer.flush)
        finally:
            self._pools.close()
            running.leave()
