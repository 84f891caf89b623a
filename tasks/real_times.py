"""A task's bar shows when its stage began and ended, however late the task itself began.

A process's first tasks begin seconds late: Prefect gets ready then, and the engine does not wait for that.
"""

from datetime import timedelta

from prefect.context import TaskRunContext
from prefect.states import Running


def show_real_times(times_s: tuple[float, float] | None) -> None:
    """Called in a task as the last thing that it does: what Prefect tells the server of its end has them.

    times_s: for how many seconds it began and ended before now; None: they are not known.
    """
    context = TaskRunContext.get()
    if context is None or times_s is None:
        return
    began_s, ended_s = times_s
    run, now = context.task_run, Running().timestamp
    # Prefect's name for a time of the clock is a class of its own in older Pythons.
    run.start_time = now - timedelta(seconds=began_s)  # type: ignore[assignment]
    run.end_time = now - timedelta(seconds=ended_s)  # type: ignore[assignment]
    if run.state is not None:  # from it Prefect counts how long the task ran
        run.state.timestamp = now - timedelta(seconds=began_s - ended_s)
