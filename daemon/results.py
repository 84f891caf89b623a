"""What the engine made of a job: the files of its proofs, and how long it took."""

from pathlib import Path

from daemon.jobs import Job, PartitionFiles, Timings
from engine.outputs import Outputs


def files_of(folder: Path, partitions: int, missing_ok: bool = False) -> tuple[PartitionFiles, ...]:
    """proof.json and public.json of each partition. Blocks. With `missing_ok`, none where one is missing."""
    outputs = Outputs(folder, partitions, "")
    if missing_ok and not outputs.last.exists():
        return ()
    paths = [outputs.paths(index) for index in range(partitions)]
    return tuple((proof.read_bytes(), public.read_bytes()) for proof, public in paths)


def timings_of(job: Job) -> Timings:
    """As far as the job has come."""
    if job.active is None:
        return Timings(queue_s=job.age_s, total_s=job.age_s)
    progress = job.active.progress
    stages = progress.stage_seconds()
    return Timings(
        job.given_s + progress.waited_s(0),
        stages["load"],
        stages["synthesize"],
        stages["prove"],
        stages["verify"],
        job.age_s,
    )
