"""Starting a batch from this process: a server to show it, the flow, and everything closed after it."""

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path

import engine
from config import Config, format_size_up, home
from config.load import warn_on_stderr
from engine import CircuitSpec, Rejected
from engine.limits import modelled_limits
from engine.words import telling
from flows.errors import FlowError
from flows.parameters.batch import BatchParameters, batch_config
from flows.parameters.due import refuse_past
from flows.parameters.requests import Requests
from flows.parameters.resume import taken_up
from flows.proving.daemon_circuit import on_daemon
from flows.server.chosen import named_server, prefect_server
from flows.server.local import Say, running_server
from flows.spread.known import refuse_where_none_serves
from flows.summary import BatchInterrupted, BatchSummary, begun, observer
from policy import BudgetPolicy, Circuit, Job, Limits, Reject, Submit


def run_batch(parameters: BatchParameters, say: Say) -> BatchSummary:
    """Run the flow `prove_batch` here, and tell how it gets on through `say`, a line at a time.

    Raises what the rooms raise for input that cannot be used, before anything is started; FlowError, which is
    ServerError or BatchFailed; and KeyboardInterrupt where a signal has ended the run in good order, which is
    BatchInterrupted where the batch had begun.
    """
    found: list[BatchSummary] = []
    try:
        return _run_batch(parameters, say, found.append)
    except KeyboardInterrupt as error:
        if found:
            raise BatchInterrupted(found[0]) from error
        raise


def _run_batch(
    parameters: BatchParameters, say: Say, has_begun: Callable[[BatchSummary], None]
) -> BatchSummary:
    refuse_past(parameters.due, datetime.now().astimezone())
    parameters = taken_up(parameters)
    config = batch_config(parameters, warn_on_stderr)
    real = parameters.mode == "real"
    if parameters.engine:
        _, circuit = asyncio.run(on_daemon(parameters, config))
    else:
        circuit = engine.resolve(parameters.circuit, config)
    if parameters.hosts:
        refuse_where_none_serves(parameters.hosts, _running_server())
    _check_folders(parameters)
    Requests(parameters, circuit, home())
    if not parameters.engine:
        limits = engine.policy_limits(config) if real else modelled_limits(config)
        refuse_an_unusable_ledger(config, limits, parameters)
        engine.prepare(circuit, say)
        if not parameters.hosts:  # else whether it fits is for each of them to say
            refuse_what_never_fits(limits, circuit, parameters.partitions)
    say(_which_server())
    with prefect_server(home(), say) as server:
        # The server takes seconds to start; what follows takes as long and needs no server.
        if real and not (parameters.hosts or parameters.engine):
            engine.compile_for_proofs(config, circuit.zkey, say)
        with telling(say, lambda: "loading Prefect"):
            import fastapi  # noqa: F401 Prefect imports it within the first run, which then waits for it
            from prefect import tags
            from prefect.exceptions import CancelledRun

            from flows.deployments.file import TAG
            from flows.display.logs import quiet_terminal
            from flows.prove_batch import prove_batch
            from flows.server.recorded import all_sent

        server.wait_ready(say)
        say(f"Prefect UI: {server.ui_url}")
        with (
            server.kept_alive(say),
            _talking_to(server.api_url),
            quiet_terminal(),
            _observed_by(say, has_begun),
            all_sent(say, wait_until_recorded=server.local is not None),
            tags(TAG, *parameters.tags),
        ):
            try:
                summary = asyncio.run(prove_batch(parameters))
            except (CancelledRun, asyncio.CancelledError) as error:
                raise KeyboardInterrupt from error
    assert isinstance(summary, BatchSummary), "a state that is no success has been raised"
    return summary


def _talking_to(api_url: str) -> AbstractContextManager[object]:
    """Have Prefect talk to the server at the address: it may have been imported, and have read its settings,
    when there was another. Making its settings anew takes 50 ms."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    if PREFECT_API_URL.value() == api_url:
        return nullcontext()
    return temporary_settings({PREFECT_API_URL: api_url})


def _running_server() -> str | None:
    """The address of the server that will be used; None where one is to be started for the run."""
    if named_url := named_server():
        return named_url
    running = running_server(home() / "prefect")
    return running.api_url if running else None


def _which_server() -> str:
    api_url = _running_server()
    return f"using the Prefect server at {api_url}" if api_url else "starting a Prefect server for this run"


def refuse_an_unusable_ledger(config: Config, limits: Limits, parameters: BatchParameters) -> None:
    """Raise EngineError for one that the flow would fail for."""
    if ledger := engine.shared_ledger(config, parameters.title, limits):
        ledger.check()


def _check_folders(parameters: BatchParameters) -> None:
    """Raise FlowError for one that the flow would fail for."""
    _check_folder(home() / "logs", "set CUZK_HOME to another")
    if parameters.output is None:
        _check_folder(home() / "proofs", "set CUZK_HOME to another")
    else:
        _check_folder(parameters.output, "choose another")


def _check_folder(path: Path, remedy: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        why = None if os.access(path, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
    except OSError as error:
        why = error.strerror
    if why is not None:
        raise FlowError(f"{path}: is no folder that can be written ({why}); {remedy}")


def refuse_what_never_fits(limits: Limits, circuit: CircuitSpec, partitions: int | None) -> None:
    """Raise Rejected, with the numbers, where the policy would, so that nobody waits for a flow to be told.

    Raises InputError for a key that cannot be used.
    """
    job = Job(circuit.name, engine.load_shape(circuit), partitions or circuit.partitions)
    for decision in BudgetPolicy(limits).handle(Submit(job), 0.0):
        if isinstance(decision, Reject):
            raise Rejected(decision.why + _budget_hint(job.circuit, limits.budget_bytes))


def _budget_hint(shape: Circuit, budget_bytes: int) -> str:
    """The budget that would do, as it is written in the settings and for --budget."""
    needed_bytes = shape.entries_bytes + shape.working_bytes
    if needed_bytes <= budget_bytes:
        return ""
    return f"; set --budget or memory.total_budget to {format_size_up(needed_bytes)}"


@contextmanager
def _observed_by(say: Say, has_begun: Callable[[BatchSummary], None]) -> Iterator[None]:
    tokens = observer.set(say), begun.set(has_begun)
    try:
        yield
    finally:
        observer.reset(tokens[0])
        begun.reset(tokens[1])
