"""Starting a batch from this process: a server to show it, the flow, and everything closed after it."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

import engine
from config import Config, home
from config.load import warn_on_stderr
from engine import CircuitSpec, Rejected
from engine.words import telling
from flows.batch import BatchParameters, BatchSummary, batch_config, observer
from flows.local_server import Say
from flows.server import API_URL, prefect_server
from policy import BudgetPolicy, Job, Reject, Submit


def run_batch(parameters: BatchParameters, say: Say) -> BatchSummary:
    """Run the flow `prove_batch` here, and tell how it gets on through `say`, a line at a time.

    Raises what the rooms raise for input that cannot be used; FlowError, which is ServerError or BatchFailed;
    and KeyboardInterrupt where a signal has ended the run in good order.
    """
    config = batch_config(parameters, warn_on_stderr)
    circuit = engine.resolve(parameters.circuit, config)
    say(_which_server())
    with prefect_server(home(), say) as server:
        # The server takes seconds to start; what follows takes as long and needs no server.
        engine.prepare(circuit, say)
        refuse_what_never_fits(config, circuit, parameters.partitions)
        engine.compile_for_key(circuit.zkey, say)
        with telling(say, lambda: "loading Prefect"):
            import fastapi  # noqa: F401 Prefect imports it within the first run, which then waits for it
            from prefect.exceptions import CancelledRun
            from prefect.settings import PREFECT_API_URL, temporary_settings

            from flows.logs import quiet_terminal
            from flows.prove_batch import prove_batch
            from flows.recorded import all_sent

        server.wait_ready(say)
        say(f"Prefect UI: {server.ui_url}")
        with (
            server.kept_alive(say),
            temporary_settings({PREFECT_API_URL: server.api_url}),
            quiet_terminal(),
            _observed_by(say),
            all_sent(say, wait_until_recorded=server.local is not None),
        ):
            try:
                summary = asyncio.run(prove_batch(parameters))
            except (CancelledRun, asyncio.CancelledError) as error:
                raise KeyboardInterrupt from error
    assert isinstance(summary, BatchSummary), "a state that is no success has been raised"
    return summary


def _which_server() -> str:
    if named_url := os.environ.get(API_URL, "").strip():
        return f"using the Prefect server at {named_url}"
    return "starting a Prefect server for this run"


def refuse_what_never_fits(config: Config, circuit: CircuitSpec, partitions: int | None) -> None:
    """Raise Rejected, with the numbers, where the policy would, so that nobody waits for a flow to be told.

    Raises InputError for a key that cannot be used.
    """
    job = Job(circuit.name, engine.load_shape(circuit), partitions or circuit.partitions)
    for decision in BudgetPolicy(engine.policy_limits(config)).handle(Submit(job), 0.0):
        if isinstance(decision, Reject):
            raise Rejected(f"{circuit.name}: {decision.why}")


@contextmanager
def _observed_by(say: Say) -> Iterator[None]:
    token = observer.set(say)
    try:
        yield
    finally:
        observer.reset(token)
