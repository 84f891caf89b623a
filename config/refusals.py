"""The errors by which the rooms tell a user what to do; others are faults of the program."""

import sys

REFUSALS = {
    "bench.errors": "BenchError",
    "config.errors": "ConfigError",
    "daemon.errors": "DaemonError",
    "db.errors": "HistoryError",
    "engine.errors": "EngineError",
    "flows.errors": "FlowError",
    "groth16.errors": "InputError",
    "sim.errors": "SimError",
}
"""The base of each room's, by its module."""


def is_refusal(error: BaseException) -> bool:
    """Whether a room refused what the user gave, in a sentence meant for the user."""
    # Who raised it has imported its module; nothing slow is imported to find out who did not.
    known = [(sys.modules.get(module), name) for module, name in REFUSALS.items()]
    return isinstance(error, tuple(getattr(module, name) for module, name in known if module is not None))
