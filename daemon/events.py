"""What happens to a job, as it happens."""

import asyncio
from collections.abc import AsyncIterator, Iterator

from daemon.book import Book
from daemon.jobs import Job
from daemon.messages import STATES
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from engine.proofs import STAGES, Stage

LOOK_EVERY_S = 0.05
SAY_WHY_EVERY_S = 2.0
MESSAGES: dict[Stage, pb.Stage] = {
    "load": pb.LOAD,
    "synthesize": pb.SYNTHESIZE,
    "prove": pb.PROVE,
    "verify": pb.VERIFY,
}
Step = tuple[int, Stage, bool]  # partition, stage, whether it is finished


async def follow(job: Job, book: Book) -> AsyncIterator[pb.JobEvent]:
    """The job's events up to its end, those before this call at once; now and then why it waits.

    A stage that is not reached has no event.
    """
    told: set[Step] = set()
    said, said_s = "", float("-inf")
    yield _of_job(job, "")
    while job.is_open:
        for event in _news(job, told):
            yield event
        if job.is_open and job.age_s - said_s >= SAY_WHY_EVERY_S:
            why, said_s = "; ".join(book.runs.why(job)[:3]), job.age_s
            if why != said:
                said = why
                yield _of_job(job, why)
        try:
            async with asyncio.timeout(LOOK_EVERY_S):
                await job.ended.wait()
        except TimeoutError:
            continue
    for event in _news(job, told):
        yield event


def _news(job: Job, told: set[Step]) -> Iterator[pb.JobEvent]:
    """Of each stage that has started or finished since the last call, in time's order."""
    if job.active is None:
        return
    progress, describe = job.active.progress, job.active.circuit.describe
    news: list[tuple[float, Step]] = []
    for index in range(progress.partitions):
        for stage in STAGES:
            state = progress.state(stage, index)
            for finished, at_s in ((False, state.started_s), (True, state.finished_s)):
                if at_s is not None and (index, stage, finished) not in told:
                    news.append((at_s, (index, stage, finished)))
    news.sort(key=lambda each: each[0])
    for at_s, step in news:
        told.add(step)
        index, stage, finished = step
        yield pb.JobEvent(
            job_id=job.id,
            state=STATES[job.state],
            partition=index,
            stage=MESSAGES[stage],
            finished=finished,
            at_s=job.given_s + at_s - progress.submitted_s,
            detail=describe(stage) if finished else "",
            device=progress.devices.get(index, "") if stage == "prove" else "",
        )


def _of_job(job: Job, detail: str) -> pb.JobEvent:
    return pb.JobEvent(job_id=job.id, state=STATES[job.state], at_s=job.age_s, detail=detail)
