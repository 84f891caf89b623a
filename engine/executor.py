"""Does what the policy decides, and says what came of it as events."""

import asyncio
import logging
import threading
from collections.abc import Coroutine, Sequence
from typing import Any

from config import TimeoutsConfig
from engine.caches import Caches, Loader
from engine.devices import Devices, ProvingDevice
from engine.dispatch import Dispatcher
from engine.ends import ActiveProof, Ends, wording
from engine.errors import EngineError, Rejected
from engine.freeing import Watched, clear_frames
from engine.ledger import Ledger
from engine.metrics import Metrics
from engine.monitor import DeviceUse
from engine.partition import PartitionRun, limited
from engine.pools import Pools
from engine.recorder import Recorder
from engine.retrying import retried
from engine.share import Share
from engine.timeline import Timeline
from kernels.cuda.errors import DeviceLost
from kernels.parallel import Stopped
from kernels.stop_flag import StopFlag
from policy import (
    Cancel,
    Complete,
    Decision,
    DeviceOutOfMemory,
    Displaced,
    Entry,
    Event,
    Evict,
    EvictFromDevice,
    Fail,
    Failed,
    Job,
    Load,
    Loaded,
    LoadFailed,
    PartitionId,
    Policy,
    Prove,
    Reject,
    Stop,
    Submit,
    Synthesize,
    Verified,
    WaitCause,
    WakeAt,
)

log = logging.getLogger("cuzk.engine")

FREED_WITHIN_S = 5.0


class Executor:
    """Executes decisions on the event loop's thread; whatever blocks runs in the pools' threads.

    A partition's stages are asyncio tasks that are never cancelled: to end one its stop flag is set, and it
    answers with Failed once its arrays are gone.
    """

    def __init__(
        self,
        policy: Policy,
        pools: Pools,
        devices: Devices,
        recorder: Recorder,
        start_s: float,
        timeouts: TimeoutsConfig,
        ledger: Ledger | None = None,
    ) -> None:
        self.proofs: dict[str, ActiveProof] = {}
        self.forgotten_errors: list[EngineError] = []
        self.dispatcher = Dispatcher(policy, self, start_s, self._broken)
        self._policy = policy
        self._share = ledger and Share(ledger, policy, self.dispatcher.send, self.dispatcher.now_s)
        self._pools, self._devices = pools, devices
        self._recorder, self._timeouts = recorder, timeouts
        self.metrics = Metrics()
        self._timeline = Timeline(policy, recorder, self.metrics)
        self._ends = Ends(self.proofs, self._timeline, recorder, self.metrics)
        self._caches = Caches()
        self._loaders: dict[str, Loader] = {}
        self._load_error: Exception | None = None  # while the policy hears of it: the cause of what it fails
        self._runs: dict[PartitionId, PartitionRun] = {}  # those that hold arrays or will
        self._busy: set[PartitionId] = set()  # those of them with a task
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = threading.Event()

    def start(self) -> None:
        """Begin: the first event, where there is one without a proof, is sent."""
        if self._share:
            self._share.start()

    def submit(self, proof_id: str, proof: ActiveProof, job: Job) -> None:
        """Give the policy a job. Whether it takes it is known when this returns."""
        self.proofs[proof_id] = proof
        self._loaders.update(proof.circuit.loaders)
        self._timeline.expect(proof_id, proof.progress)
        if self._share:
            self._share.before(job)
        self.dispatcher.send(Submit(job))

    def forget(self, proof_id: str) -> None:
        """Drop what is kept of a proof that has ended, but for the first error of each kind."""
        progress = self.proofs.pop(proof_id).progress
        self._recorder.forget(proof_id, progress.partitions)
        error = progress.error
        if error is not None and all(type(error) is not type(each) for each in self.forgotten_errors):
            self.forgotten_errors.append(error)

    @property
    def closed(self) -> bool:
        """Whether proofs are no longer taken."""
        return self._closing.is_set()

    async def close(self) -> None:
        """Cancel whatever is unfinished, wait until it holds nothing, and drop the caches."""
        self._closing.set()
        for proof_id, proof in reversed(self.proofs.items()):  # those that wait first, so that none starts
            if not proof.progress.ended:
                self.dispatcher.send(Cancel(proof_id))
        while self._tasks:
            await asyncio.wait(self._tasks)
        self.dispatcher.cancel_timer()
        self._caches.clear()
        self._runs.clear()  # none but after a mistake of ours
        self._devices.close()
        if self._share:
            self._share.close()

    @property
    def share_bytes(self) -> int:
        """What this process may use of the budget now."""
        return self._share.share_bytes if self._share else self._policy.limits.budget_bytes

    def gpu_held_bytes(self) -> dict[str, int]:
        """What lies in the memory of each GPU that is in use."""
        return self._devices.gpu_held_bytes()

    def devices_use(self) -> tuple[DeviceUse, ...]:
        """What each GPU that is in use holds, and what is reserved there. From any thread."""
        reserved_bytes = self._policy.device_reserved_bytes
        return tuple(
            [DeviceUse(name, held, reserved_bytes(name)) for name, held in self.gpu_held_bytes().items()]
        )

    def explain(self, partition: PartitionId) -> str:
        """What the partition does or waits for, and which other processes it waits for, if it does."""
        sentence = self._policy.explain(partition)
        if self._share and self._policy.wait_cause(partition) is WaitCause.SHARE:
            return f"{sentence}; {self._share.explain()}"
        return sentence

    def explain_all(self) -> list[str]:
        """A line for each partition that is not at its end."""
        return [
            f"{proof.name}: {self.explain(PartitionId(proof_id, index))}"
            for proof_id, proof in self.proofs.items()
            if not proof.progress.ended
            for index in range(proof.progress.partitions)
        ]

    def settle(self) -> None:
        if self._share and not self._closing.is_set():
            self._share.settle()

    def observe(self, event: Event, decisions: Sequence[Decision], at_s: float) -> None:
        self._timeline.observe(event, decisions, at_s)

    def execute(self, decision: Decision, at_s: float) -> None:
        match decision:
            case Stop(partition):
                self._stop(partition)
            case Evict(entry):
                log.info("%s", decision)
                self._caches.evict(entry.key)
            case Load(entry):
                self._spawn(self._load(entry))
            case Synthesize(partition):
                run = self._runs[partition] = self._new_run(partition)
                evaluate = not self._devices.evaluate(run.work.header)
                self._work(partition, run.synthesize(evaluate))
            case EvictFromDevice(device, entry):
                log.info("%s", decision)
                self._devices[device].evict(entry.key)
                self._spawn(self._free_evicted(self._devices[device]))
            case Prove(partition, device):
                self._work(partition, self._runs[partition].prove(self._devices[device]))
            case Complete(job_id):
                self._ends.complete(job_id, at_s)
            case Fail(job_id, why):
                self._ends.fail(job_id, why, at_s, self._load_error)
            case Reject(job_id, why):
                refusal = Rejected(f"{self.proofs[job_id].name}: {why}")
                self._ends.end(job_id, at_s, "failed", refusal)
            case WakeAt(wake_at_s):
                self.dispatcher.wake_at(wake_at_s)

    def _new_run(self, partition: PartitionId) -> PartitionRun:
        proof = self.proofs[partition.job_id]
        return PartitionRun(
            partition,
            proof.name_of(partition.index),
            proof.circuit,
            proof.outputs,
            self._caches,
            self._pools,
            self._timeouts,
            self.dispatcher.send,
            proof.until,
        )

    async def _load(self, entry: Entry) -> None:
        loader, stop = self._loaders[entry.key], StopFlag()
        event: Event
        try:

            def stopped() -> bool:
                return self._closing.is_set() or stop.is_set()

            run = self._pools.synthesis(stopped)
            with limited("load", self._timeouts.load, stop):
                size_bytes = await retried(
                    lambda: self._pools.blocking(self._caches.load, entry, loader, run), entry.key, stopped
                )
            event = Loaded(entry.key, size_bytes)
        except Exception as caught:
            error = stop.why or caught if isinstance(caught, Stopped) else caught
            clear_frames(error)
            event, self._load_error = LoadFailed(entry.key, wording(error)), error
        log.info("%s", event)
        self.dispatcher.send(event)
        self._load_error = None

    async def _free_evicted(self, device: ProvingDevice) -> None:
        try:
            await self._pools.blocking(device.free_evicted)
        except DeviceLost as error:
            clear_frames(error)
            device.give_up(error)

    def _work(self, partition: PartitionId, stages: Coroutine[Any, Any, Event]) -> None:
        self._busy.add(partition)
        self._spawn(self._follow(partition, stages))

    async def _follow(self, partition: PartitionId, stages: Coroutine[Any, Any, Event]) -> None:
        """Run the stages to their event; an error, or a stop that came meanwhile, is a failure."""
        try:
            event = await stages
            if not isinstance(event, Verified):
                self._runs[partition].work.check_stop()
        except Exception as error:
            await self._give_up(partition, error)
            return
        self._busy.discard(partition)
        if isinstance(event, Verified | DeviceOutOfMemory | Displaced):  # it holds nothing any more
            self._forget(partition)
        self.dispatcher.send(event)

    def _stop(self, partition: PartitionId) -> None:
        self._runs[partition].work.stop.set()
        if partition not in self._busy:  # it only holds arrays, and waits for a device
            self._busy.add(partition)
            self._spawn(self._give_up(partition, Stopped("it was stopped")))

    async def _give_up(self, partition: PartitionId, error: Exception) -> None:
        """Free what the partition holds, then tell the policy."""
        clear_frames(error)
        if isinstance(error, Stopped):
            error = self._runs[partition].work.stop.why or error
        await self._until_free(partition, self._runs[partition].work.release())
        self._forget(partition)
        proof = self.proofs[partition.job_id]
        if not isinstance(error, Stopped):
            proof.cause = proof.cause or error
        self.dispatcher.send(Failed(partition, wording(error)))

    async def _until_free(self, partition: PartitionId, watched: Watched) -> None:
        for _ in range(round(FREED_WITHIN_S / 0.001)):
            if not watched.held_bytes():
                return
            await asyncio.sleep(0.001)
        name = self.proofs[partition.job_id].name_of(partition.index)
        log.error("%s failed and %d bytes of its arrays are still in use", name, watched.held_bytes())

    def _forget(self, partition: PartitionId) -> None:
        measured_bytes = self._runs.pop(partition).work.measured_bytes
        self._recorder.partition(partition, measured_bytes=measured_bytes)
        shape = self.proofs[partition.job_id].circuit.shape
        self.metrics.took(shape.name, shape.working_bytes, measured_bytes)
        self._busy.discard(partition)

    def _broken(self, error: Exception) -> None:
        """What the policy believes is no longer true: end everything, and tell everyone why."""
        log.error("the engine has stopped", exc_info=error)
        self._closing.set()
        for run in self._runs.values():
            run.work.stop.set()
        self._ends.engine_stopped(error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
