"""What a batch is told of its circuit by the daemon that will prove it."""

from config import Config
from daemon.client import connect
from daemon.errors import DaemonError
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from engine import CircuitSpec, EngineError
from flows.parameters.batch import BatchParameters
from flows.proving.daemon_engine import OWN
from policy import Device, Limits


async def on_daemon(parameters: BatchParameters, config: Config) -> tuple[Limits, CircuitSpec]:
    """Its budget, and the circuit, whose files it alone has.

    Raises DaemonError where it does not answer or does not know the circuit, EngineError where it cannot
    use it.
    """
    async with connect(parameters.engine, **dict(config.client)) as client:
        if client.version is None:
            raise DaemonError(
                f"the daemon at {parameters.engine} is another program's; name one of this program"
            )
        (circuit,) = await client.circuits(parameters.circuit)
        if not circuit.usable:
            raise EngineError(
                f"the daemon at {parameters.engine} cannot prove {circuit.name}: {circuit.reason}"
            )
        limits = Limits(client.version.budget_bytes, 1, (Device("daemon", 1),))
    return limits, _as_spec(circuit)


def _as_spec(circuit: pb.CircuitInfo) -> CircuitSpec:
    if circuit.takes_inputs:
        return CircuitSpec(circuit.name, OWN, wasm=OWN, inputs=OWN, partitions=circuit.partitions)
    return CircuitSpec(circuit.name, OWN, witness=OWN, partitions=circuit.partitions)
