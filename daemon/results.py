"""How long the engine took for a job."""

from daemon.jobs import Job, Timings
from engine.proofs import STAGES


def timings_of(job: Job) -> Timings:
    """As far as the job has come; stages after the last that was asked for take nothing."""
    if job.active is None:
        return Timings(queue_s=job.age_s, total_s=job.age_s)
    progress = job.active.progress
    asked = STAGES[: STAGES.index(job.ask.until) + 1]
    seconds = {f"{stage}_s": each for stage, each in progress.stage_seconds().items() if stage in asked}
    return Timings(queue_s=job.given_s + progress.waited_s(0), total_s=job.age_s, **seconds)
