"""What clients ask of a daemon, as messages."""

from datetime import datetime

from daemon.errors import Refused
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb

PRIORITIES = {
    "": pb.CIRCUITS_OWN,
    "low": pb.LOW,
    "normal": pb.NORMAL,
    "high": pb.HIGH,
    "critical": pb.CRITICAL,
}


def request(
    circuit: str,
    *,
    witness: bytes | None = None,
    inputs: bytes | None = None,
    request_id: str = "",
    priority: str = "",
    due: datetime | None = None,
    partitions: int = 0,
    lease_s: float = 0.0,
    name: str = "",
) -> pb.SubmitCircuitRequest:
    """What to prove: a witness (.wtns), or inputs (JSON), or the circuit's own.

    `lease_s`: it is cancelled once nobody has waited for it for so long. Raises Refused for what cannot be.
    """
    if witness is not None and inputs is not None:
        raise Refused("found a witness and inputs, expected one of both")
    if priority not in PRIORITIES:
        raise Refused(f"priority: found {priority!r}, expected one of {', '.join(filter(None, PRIORITIES))}")
    return pb.SubmitCircuitRequest(
        request_id=request_id,
        circuit=circuit,
        witness=witness,
        inputs_json=inputs,
        priority=PRIORITIES[priority],
        due_ms=0 if due is None else round(due.timestamp() * 1000),
        partitions=partitions,
        lease_ms=round(lease_s * 1000),
        name=name,
    )
