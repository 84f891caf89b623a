"""The batch of `prove_batch` on a modelled machine. Light to import: no Prefect."""

from dataclasses import dataclass
from pathlib import Path

import engine
from config import Config
from config.load import warn_on_stderr
from db import History, open_history
from engine.circuit import open_circuit
from engine.limits import modelled_limits
from engine.words import telling
from flows.parameters.batch import BatchParameters, batch_config
from flows.server.local import Say
from flows.version import code_version
from policy import Priority
from sim import BUDGET, Batch, Progress, SimulatedRun, load_profile, record, simulate, with_history
from sim.hardware import device_kind


@dataclass(frozen=True)
class SimulationParameters:
    """Under which policy ("budget" or "fixed:N"), on which machine (None: the bundled one), by which seed."""

    policy: str = BUDGET
    profile: Path | None = None
    seed: int = 0


def simulate_batch(parameters: BatchParameters, simulation: SimulationParameters, say: Say) -> str:
    """Simulate a batch under the settings of a real one, keep it in the history, and return the run's id.

    Stage times are those of the circuit's real runs in the history, else the profile's. A budget that is
    given may be larger than this machine's memory. Raises what the rooms raise for input that cannot be used;
    SimError for a batch that never fits.
    """
    config, progress = batch_config(parameters, warn_on_stderr), Progress()
    with open_history(
        config.history_url(), spool=config.history_spool(), hide=config.history.hash
    ) as history:
        run = _simulate(parameters, simulation, config, history, say, progress)
        words = telling(say, lambda: f"recording the run, {progress.recorded_rows} rows written")
        with words, history.writer() as writer:
            run_id = record(
                run, writer, name=parameters.title, code_version=code_version(), progress=progress
            )
            if lost := writer.close():
                raise lost
    return run_id


def _simulate(
    parameters: BatchParameters,
    simulation: SimulationParameters,
    config: Config,
    history: History,
    say: Say,
    progress: Progress,
) -> SimulatedRun:
    circuit = engine.resolve(parameters.circuit, config)
    limits = modelled_limits(config)
    profile = with_history(load_profile(simulation.profile), history, [circuit.name], device_kind(limits))
    engine.prepare(circuit, say)
    partitions = parameters.partitions or circuit.partitions
    opened = open_circuit(engine.with_table(circuit, parameters.count * partitions, config, limits))
    batch = Batch(
        opened.shape,
        parameters.count,
        parameters.concurrency,
        partitions=partitions,
        priority=Priority[parameters.priority.upper()] if parameters.priority else circuit.priority,
        constraints=opened.header.domain_size,  # rounded up to a power of two, but all that a key tells
    )
    say(f"simulating {parameters.title} under the policy {simulation.policy}")
    with telling(say, lambda: _word(progress, parameters.count)):
        return simulate(
            batch,
            limits,
            profile,
            policy=simulation.policy,
            seed=simulation.seed,
            progress=progress,
        )


def _word(progress: Progress, count: int) -> str:
    return f"simulating, {progress.ended_count} of {count} proofs done at {progress.at_s:.0f} simulated s"
