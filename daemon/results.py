"""How long the engine took for a job."""

from daemon.jobs import Job, Timings


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
