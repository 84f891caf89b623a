"""`cuzk ui`: the Prefect UI with the batches so far."""

from __future__ import annotations

import signal

import click

from cli.options import say


@click.command(short_help="Serve the Prefect UI until Ctrl-C.")
def ui() -> None:
    """Serve the Prefect UI with all batches so far, until Ctrl-C.

    It is the server that `cuzk bench batch` starts for a run, on a free port of this machine only;
    batches started meanwhile use it too. With PREFECT_API_URL set, prints that server's address.
    """
    from config import home
    from flows.server import prefect_server

    with prefect_server(home(), say) as server:
        server.wait_ready(say)
        print(f"Prefect UI: {server.ui_url}", flush=True)
        if server.local is None:
            return
        print("Ctrl-C ends it", flush=True)
        signal.pause()
