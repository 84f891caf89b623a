"""The circuits that a daemon proves, each made ready once: development key, kernels, table."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import engine
import examples
from config import Config
from daemon.errors import DaemonError, NotConfigured, Refused
from daemon.kinds import check_kinds
from engine import CircuitSpec, EngineError
from engine.circuit import file_identity, open_circuit
from engine.compiling import compiled_for_proofs
from engine.ends import wording
from engine.tables import FEWEST_PROOFS
from groth16.errors import InputError
from policy import BudgetPolicy, Job, Limits, Reject, Submit

log = logging.getLogger("cuzk.daemon")


@dataclass(frozen=True)
class Listed:
    """A circuit and what is known of it without loading it; `reason`: why it cannot be used as it is."""

    name: str
    reason: str = ""
    usable: bool = True
    prepared: bool = False
    bundled: bool = False
    takes_inputs: bool = False
    partitions: int = 1
    curve: str = ""
    variables: int = 0
    public_signals: int = 0
    domain_size: int = 0
    entries_bytes: int = 0
    working_bytes: int = 0


class Circuits:
    """Circuits by name; methods belong to the event loop's thread."""

    def __init__(self, config: Config, limits: Limits) -> None:
        self._config, self._limits = config, limits
        self._specs: dict[str, CircuitSpec] = {}
        self._fits: dict[str, tuple[str, int]] = {}  # what was checked last: key and partitions
        self._ready: dict[str, asyncio.Task[CircuitSpec]] = {}

    @property
    def kinds(self) -> Mapping[str, str]:
        """Which circuit proves which kind of the public protocol."""
        return self._config.daemon.circuits

    def reload(self, config: Config) -> None:
        """Circuits and kinds are as these settings say from now on; what is being proved goes on as it was.

        Raises NotConfigured for a kind that there is none of; then nothing is changed.
        """
        check_kinds(config.daemon.circuits)
        old, new = self._config.circuits, config.circuits
        own = self._config.daemon.model_copy(update={"circuits": config.daemon.circuits})
        self._config = self._config.model_copy(update={"circuits": new, "daemon": own})
        for name in {*old, *new}:
            if old.get(name) != new.get(name):
                for known in (self._specs, self._fits, self._ready):
                    known.pop(name, None)

    def find(self, name: str) -> CircuitSpec:
        """The circuit, ready or not. Raises Refused, with the nearest name, where there is none."""
        if name not in self._specs:
            try:
                self._specs[name] = engine.resolve(name, self._config)
            except EngineError as error:
                raise Refused(str(error)) from error
        return self._specs[name]

    async def ready(self, name: str) -> CircuitSpec:
        """The circuit once its first proof can begin. Raises EngineError or InputError for unusable files."""
        spec, task = self.find(name), self._ready.get(name)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._ready[name] = asyncio.create_task(asyncio.to_thread(self._prepare, spec))
        return await asyncio.shield(task)

    def is_ready(self, name: str) -> bool:
        """Whether nothing is to be made for it any more."""
        task = self._ready.get(name)
        return task is not None and task.done() and not task.cancelled() and task.exception() is None

    def made_ready(self, name: str) -> CircuitSpec:
        """The circuit as proofs use it, once `is_ready`."""
        return self._ready[name].result()

    def _prepare(self, spec: CircuitSpec) -> CircuitSpec:
        engine.prepare(spec, log.info)
        engine.compile_for_proofs(self._config, spec.zkey, log.info)
        return engine.with_table(spec, FEWEST_PROOFS, self._config, self._limits)

    def check(self, name: str, partitions: int) -> None:
        """Raise Refused, with the numbers, for what never fits, and NotConfigured for unusable files."""
        spec = self.find(name)
        if spec.development and not spec.zkey.exists():
            return  # it is made on first use
        checked = self._identity(spec), partitions
        if self._fits.get(name) == checked:
            return
        try:
            job = Job(spec.name, engine.load_shape(spec), partitions)
        except (EngineError, InputError) as error:
            raise NotConfigured(f"circuit {name!r}: {error}") from error
        for decision in BudgetPolicy(self._limits).handle(Submit(job), 0.0):
            if isinstance(decision, Reject):
                raise Refused(f"circuit {name!r}: {decision.why}")
        self._fits[name] = checked

    def _identity(self, spec: CircuitSpec) -> str:
        """Of the key's file: to read it for each of a thousand small proofs takes as long as some of them."""
        try:
            return file_identity(spec.zkey)
        except EngineError as error:
            raise NotConfigured(f"circuit {spec.name!r}: {error}") from error

    def names(self) -> list[str]:
        """Those of the settings, then the bundled ones."""
        own = self._config.circuits
        return [*own, *(name for name in examples.CIRCUITS if name not in own)]

    def troubles(self) -> list[str]:
        """A line for each circuit of the settings that cannot be used as it is, and each kind without one."""
        config = self._config
        listed = [self.listed(name) for name in config.circuits]
        lines = [f"circuit {each.name!r} cannot be used: {each.reason}" for each in listed if not each.usable]
        for kind, name in config.daemon.circuits.items():
            try:
                self.find(name)
            except Refused as error:
                lines.append(f"daemon.circuits.{kind}: {error}")
        return lines

    def listed(self, name: str) -> Listed:
        """What is known of the circuit. Reads heads of files, so it blocks for a moment."""
        bundled = name not in self._config.circuits
        try:
            spec = self.find(name)
        except DaemonError as error:
            return Listed(name, str(error), usable=False, bundled=bundled)
        about = Listed(
            name, prepared=self.is_ready(name), bundled=bundled, takes_inputs=spec.wasm is not None,
            partitions=spec.partitions,
        )  # fmt: skip
        with_sizes = _with_sizes(about, spec, lambda: self.check(name, spec.partitions))
        return replace(with_sizes, prepared=with_sizes.prepared or self._has_kernels(with_sizes.curve))

    def _has_kernels(self, curve: str) -> bool:
        """Whether the first proof with a key of the curve waits for no compiler; "": there is no key yet."""
        return bool(curve) and compiled_for_proofs(self._config, curve)


def _with_sizes(about: Listed, spec: CircuitSpec, check: Callable[[], None]) -> Listed:
    values = vars(about)
    if spec.development and not spec.zkey.exists():
        return Listed(**values | {"reason": "its development key is made on first use"})
    try:
        opened = open_circuit(spec)
    except (EngineError, InputError) as error:
        return Listed(**values | {"reason": wording(error), "usable": False})
    header, shape = opened.header, opened.shape
    values |= {
        "curve": header.curve.name, "variables": header.n_variables, "public_signals": header.n_public,
        "domain_size": header.domain_size, "entries_bytes": shape.entries_bytes,
        "working_bytes": shape.working_bytes,
    }  # fmt: skip
    try:
        check()
    except DaemonError as error:
        return Listed(**values | {"reason": str(error), "usable": False})
    return Listed(**values)
