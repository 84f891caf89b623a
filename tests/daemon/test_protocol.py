"""The public protocol, as clients know it that were not written here."""

from pathlib import Path

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from benchmarks.daemon.foreign import by_a_foreign_client
from daemon.proto.cuzk.v1 import proving_pb2
from daemon.proto.generate import HERE, generate
from tests.daemon.conftest import INPUT, Daemon

# As published: message → field number → (name, type), repeated fields with a star.
PUBLIC = {
    "SubmitProofRequest": {
        1: ("request_id", "string"), 2: ("proof_kind", "ProofKind"), 3: ("sector_size", "uint64"),
        4: ("registered_proof", "uint64"), 5: ("priority", "Priority"), 10: ("vanilla_proof", "bytes"),
        20: ("sector_number", "uint64"), 21: ("miner_id", "uint64"), 22: ("randomness", "bytes"),
        23: ("partition_index", "uint32"), 30: ("sector_key_cid", "bytes"),
        31: ("new_sealed_cid", "bytes"), 32: ("new_unsealed_cid", "bytes"),
    },
    "SubmitProofResponse": {
        1: ("job_id", "string"), 2: ("queue_position", "uint32"), 3: ("assigned_gpu", "string"),
    },
    "AwaitProofRequest": {1: ("job_id", "string"), 2: ("timeout_ms", "uint64")},
    "AwaitProofResponse": {
        1: ("job_id", "string"), 2: ("status", "Status"), 3: ("proof", "bytes"),
        4: ("error_message", "string"),
        10: ("queue_wait_ms", "uint64"), 11: ("srs_load_ms", "uint64"), 12: ("synthesis_ms", "uint64"),
        13: ("gpu_compute_ms", "uint64"), 14: ("total_ms", "uint64"),
    },
    "ProveRequest": {1: ("submit", "SubmitProofRequest")},
    "ProveResponse": {1: ("result", "AwaitProofResponse")},
    "CancelProofRequest": {1: ("job_id", "string")},
    "CancelProofResponse": {1: ("was_running", "bool")},
    "GetStatusRequest": {},
    "GetStatusResponse": {
        1: ("gpus", "GPUStatus*"), 2: ("loaded_srs", "SRSStatus*"), 3: ("queues", "QueueStatus*"),
        4: ("total_proofs_completed", "uint64"), 5: ("total_proofs_failed", "uint64"),
        6: ("uptime_seconds", "uint64"), 7: ("pinned_memory_bytes", "uint64"),
        8: ("pinned_memory_limit_bytes", "uint64"),
    },
    "GPUStatus": {
        1: ("ordinal", "uint32"), 2: ("name", "string"), 3: ("vram_total_bytes", "uint64"),
        4: ("vram_free_bytes", "uint64"), 5: ("current_job_id", "string"),
        6: ("current_proof_kind", "string"),
    },
    "SRSStatus": {
        1: ("circuit_id", "string"), 2: ("tier", "Tier"), 3: ("size_bytes", "uint64"),
        4: ("ref_count", "uint32"),
    },
    "QueueStatus": {1: ("proof_kind", "string"), 2: ("pending", "uint32"), 3: ("in_progress", "uint32")},
    "PreloadSrsRequest": {1: ("circuit_id", "string")},
    "PreloadSrsResponse": {1: ("already_loaded", "bool"), 2: ("load_time_ms", "uint64")},
    "EvictSrsRequest": {1: ("circuit_id", "string")},
    "EvictSrsResponse": {1: ("was_loaded", "bool"), 2: ("freed_bytes", "uint64")},
    "GetMetricsRequest": {},
    "GetMetricsResponse": {1: ("prometheus_text", "string")},
}  # fmt: skip
ENUMS = {
    "ProofKind": "PROOF_KIND_UNSPECIFIED POREP_SEAL_COMMIT SNAP_DEALS_UPDATE WINDOW_POST_PARTITION "
    "WINNING_POST",
    "Priority": "PRIORITY_UNSPECIFIED LOW NORMAL HIGH CRITICAL",
    "AwaitProofResponse.Status": "UNKNOWN COMPLETED FAILED CANCELLED TIMEOUT",
    "SRSStatus.Tier": "HOT WARM COLD",
}
METHODS = "SubmitProof AwaitProof Prove CancelProof GetStatus GetMetrics PreloadSRS EvictSRS"
TYPES = {3: "int64", 4: "uint64", 8: "bool", 9: "string", 12: "bytes", 13: "uint32"}


def type_of(field: object) -> str:
    star = "*" if field.is_repeated else ""  # type: ignore[attr-defined]  # a FieldDescriptor
    known = field.message_type or field.enum_type  # type: ignore[attr-defined]  # a FieldDescriptor
    return (known.name if known else TYPES[field.type]) + star  # type: ignore[attr-defined]  # as above


def test_messages_are_the_public_ones_by_number_name_and_type() -> None:
    found = {
        name: {field.number: (field.name, type_of(field)) for field in message.fields}
        for name, message in proving_pb2.DESCRIPTOR.message_types_by_name.items()
    }
    assert found == PUBLIC
    assert proving_pb2.DESCRIPTOR.package == "cuzk.v1"
    service = proving_pb2.DESCRIPTOR.services_by_name["ProvingEngine"]
    assert [method.name for method in service.methods] == METHODS.split()
    assert not any(method.server_streaming or method.client_streaming for method in service.methods)


def test_enums_are_the_public_ones_by_number() -> None:
    for path, names in ENUMS.items():
        parts = path.split(".")
        holder = proving_pb2.DESCRIPTOR
        for part in parts[:-1]:
            holder = holder.message_types_by_name[part]
        values = holder.enum_types_by_name[parts[-1]].values
        assert {value.number: value.name for value in values} == dict(enumerate(names.split()))


def test_what_is_committed_is_what_the_proto_files_make(tmp_path: Path) -> None:
    for made in generate(tmp_path):
        assert made.read_text() == (HERE / made.relative_to(tmp_path)).read_text(), made.name


def test_a_client_generated_from_the_public_proto_submits_awaits_cancels_and_reads_status(
    daemon: Daemon, tmp_path: Path
) -> None:
    """In a process that has none of our modules."""
    proof = by_a_foreign_client(daemon.address.removeprefix("http://"), tmp_path)
    daemon.verify(proof, b'["42"]')


def test_a_client_that_knows_nothing_asks_by_reflection(daemon: Daemon) -> None:
    with grpc.insecure_channel(daemon.address.removeprefix("http://")) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        assert {"cuzk.v1.ProvingEngine", "cuzk_py.v1.Circuits"} <= set(database.get_services())
        pool = DescriptorPool(database)
        method = pool.FindServiceByName("cuzk.v1.ProvingEngine").FindMethodByName("Prove")
        ask = GetMessageClass(method.input_type)(
            submit={"proof_kind": "POREP_SEAL_COMMIT", "sector_size": 1 << 35, "vanilla_proof": INPUT}
        )
        prove = channel.unary_unary(
            "/cuzk.v1.ProvingEngine/Prove",
            request_serializer=type(ask).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        result = prove(ask, timeout=100).result
    assert result.DESCRIPTOR.enum_types_by_name["Status"].values_by_number[result.status].name == "COMPLETED"
    daemon.verify(result.proof, b'["42"]')
