"""Jobs as messages of circuits.proto."""

from daemon.jobs import Job, PartitionFiles, State, Timings
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb

STATES: dict[State, pb.JobState] = {
    "accepted": pb.ACCEPTED,
    "running": pb.RUNNING,
    "done": pb.DONE,
    "failed": pb.FAILED,
    "cancelled": pb.CANCELLED,
}


def as_result(job: Job, files: tuple[PartitionFiles, ...]) -> pb.JobResult:
    """Of a job that has ended."""
    end = job.end
    assert end is not None, "a job with a result has ended"
    return pb.JobResult(
        job_id=job.id,
        state=STATES[end.state],
        error=end.error,
        partitions=[pb.PartitionProof(proof_json=proof, public_json=public) for proof, public in files],
        timings=as_timings(end.timings),
    )


def as_timings(timings: Timings) -> pb.Timings:
    """Field by field."""
    return pb.Timings(**vars(timings))
