"""A client that was not written here: made by grpcio-tools from the public proto, without our modules."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import examples
from benchmarks.daemon.spawned import spawned
from daemon.address import parse_address
from daemon.proto.generate import HERE

FOREIGN = """
    import sys, grpc
    from cuzk.v1 import proving_pb2 as pb
    from cuzk.v1.proving_pb2_grpc import ProvingEngineStub
    address, inputs = sys.argv[1], open(sys.argv[2], "rb").read()
    engine = ProvingEngineStub(grpc.insecure_channel(address))
    def ask(name, size=34359738368, data=inputs):
        return pb.SubmitProofRequest(request_id=name, proof_kind=pb.POREP_SEAL_COMMIT, sector_size=size,
                                     priority=pb.HIGH, vanilla_proof=data)
    submitted = engine.SubmitProof(ask("one"))
    done = engine.AwaitProof(pb.AwaitProofRequest(job_id=submitted.job_id, timeout_ms=100_000))
    assert done.status == pb.AwaitProofResponse.COMPLETED, done
    assert engine.SubmitProof(ask("one")).job_id == submitted.job_id
    again = engine.AwaitProof(pb.AwaitProofRequest(job_id=submitted.job_id))
    assert again.proof == done.proof
    compressed = engine.Prove(pb.ProveRequest(submit=ask("two", 2048))).result
    assert compressed.status == pb.AwaitProofResponse.COMPLETED and len(compressed.proof) == 192
    assert engine.CancelProof(pb.CancelProofRequest(job_id=submitted.job_id)).was_running is False
    status = engine.GetStatus(pb.GetStatusRequest())
    assert status.total_proofs_completed >= 2 and status.pinned_memory_limit_bytes > 0
    assert "cuzk_proofs_total" in engine.GetMetrics(pb.GetMetricsRequest()).prometheus_text
    engine.PreloadSRS(pb.PreloadSrsRequest(circuit_id="multiplier"))
    assert engine.PreloadSRS(pb.PreloadSrsRequest(circuit_id="multiplier")).already_loaded
    assert [each.circuit_id for each in engine.GetStatus(pb.GetStatusRequest()).loaded_srs] != []
    evicted = engine.EvictSRS(pb.EvictSrsRequest(circuit_id="multiplier"))
    assert evicted.was_loaded and evicted.freed_bytes > 0
    for wrong, code in ((ask("three", data=b"no input"), "INVALID_ARGUMENT"),
                        (ask("three", data=b'{"Phase1Out": "AAAA", "SectorNum": 1}'), "FAILED_PRECONDITION"),
                        (pb.SubmitProofRequest(), "INVALID_ARGUMENT"),
                        (pb.SubmitProofRequest(proof_kind=pb.WINNING_POST), "FAILED_PRECONDITION")):
        try:
            engine.SubmitProof(wrong)
            raise SystemExit("was taken")
        except grpc.RpcError as error:
            assert error.code().name == code and "\\n" not in error.details(), error
    print(done.proof.decode())
"""


def by_a_foreign_client(target: str, folder: Path) -> bytes:
    """The proof.json that it was given; it has looked at the rest itself. Raises AssertionError."""
    generator = [sys.executable, "-m", "grpc_tools.protoc", f"-I{HERE}", "cuzk/v1/proving.proto"]
    outputs = [f"--{kind}_out={folder}" for kind in ("python", "grpc_python")]
    subprocess.run([*generator, *outputs], check=True)
    (folder / "client.py").write_text(textwrap.dedent(FOREIGN))
    done = subprocess.run(
        [sys.executable, "client.py", target, examples.CIRCUITS["multiplier"].inputs],
        cwd=folder,
        env={"PATH": ""},
        capture_output=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def foreign() -> dict[str, object]:
    """Have it submit, await, cancel, preload, evict and read status on a daemon."""
    with spawned() as daemon, tempfile.TemporaryDirectory() as folder:
        proof = by_a_foreign_client(parse_address(daemon.address).target, Path(folder))
    return {"proof_bytes": len(proof), "methods": "all eight of cuzk.v1.ProvingEngine"}
