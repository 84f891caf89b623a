"""Does on this machine what the policy decides: caches, worker pools, memory monitor, history.

Light to import: everything but the errors and `current` is loaded when it is first asked for, so that a
single proof in this process pays for no database.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError, ProofCancelled, ProofFailed, Rejected
from engine.running import current

if TYPE_CHECKING:
    from engine.catalog import CircuitSpec, resolve
    from engine.circuit import load_shape
    from engine.compiling import compile_for_key, compile_for_proofs
    from engine.development_keys import prepare
    from engine.engine import Engine
    from engine.ledger import Ledger, shared_ledger
    from engine.limits import policy_limits
    from engine.proofs import ProofRequest, ProofResult, StageSummary
    from engine.recorder import RunLabels
    from engine.tables import with_table

__all__ = [
    "CircuitSpec",
    "Engine",
    "EngineError",
    "Ledger",
    "ProofCancelled",
    "ProofFailed",
    "ProofRequest",
    "ProofResult",
    "Rejected",
    "RunLabels",
    "StageSummary",
    "compile_for_key",
    "compile_for_proofs",
    "current",
    "load_shape",
    "policy_limits",
    "prepare",
    "resolve",
    "shared_ledger",
    "with_table",
]

_HOMES = {
    "CircuitSpec": "catalog",
    "Engine": "engine",
    "Ledger": "ledger",
    "ProofRequest": "proofs",
    "ProofResult": "proofs",
    "RunLabels": "recorder",
    "StageSummary": "proofs",
    "compile_for_key": "compiling",
    "compile_for_proofs": "compiling",
    "load_shape": "circuit",
    "policy_limits": "limits",
    "prepare": "development_keys",
    "resolve": "catalog",
    "shared_ledger": "ledger",
    "with_table": "tables",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"engine.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
