"""Who waits for a daemon's jobs, and what becomes of one that nobody waits for."""

import asyncio
import logging
from collections.abc import Callable

from daemon.errors import NotConfigured
from daemon.jobs import Job

log = logging.getLogger("cuzk.daemon")


class Waits:
    """Methods belong to the event loop's thread. `cancel` ends a job whose lease is over."""

    def __init__(self, cancel: Callable[[Job], None]) -> None:
        self._cancel = cancel

    async def wait(self, job: Job, timeout_s: float | None) -> bool:
        """Whether the job has ended, after that time at most. Who waits holds the job's lease."""
        self.came(job)
        try:
            async with asyncio.timeout(timeout_s):
                await job.ended.wait()
        except TimeoutError:
            return False
        finally:
            self.left(job)
        return True

    async def wait_for_end(self, job: Job) -> None:
        """Return once the job is done. Raises NotConfigured where it ends in another way."""
        await self.wait(job, None)
        if job.state != "done":
            raise NotConfigured(job.end.error if job.end else job.state)

    def came(self, job: Job) -> None:
        """One waits for the job from now on."""
        job.watchers += 1

    def left(self, job: Job) -> None:
        """One who waited for the job does so no more."""
        job.watchers -= 1
        if not job.watchers and not job.is_open:
            job.active = None
        self.watch_lease(job)

    def watch_lease(self, job: Job) -> None:
        """End the job after its lease, unless somebody waits for it then or did so meanwhile."""
        if job.ask.lease_s and not job.watchers and job.is_open:
            asyncio.get_running_loop().call_later(job.ask.lease_s, self._end_lease, job, job.age_s)

    def _end_lease(self, job: Job, since_s: float) -> None:
        if not job.watchers and job.is_open and job.age_s - since_s >= job.ask.lease_s * 0.99:
            log.info("job %s: nobody has waited for it for %g s", job.id, job.ask.lease_s)
            self._cancel(job)
