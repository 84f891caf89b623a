"""`cuzk ui`: the Prefect UI with the batches so far."""

from __future__ import annotations

import sys
import time

import click

from cli.options import program, say


@click.group(invoke_without_command=True, short_help="Start the Prefect server and its UI, to stay.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Where a new server listens (default: 4200, or a free port where that is taken).",
)
@click.option("--open", "in_browser", is_flag=True, help="Open the UI in the browser.")
@click.pass_context
def ui(context: click.Context, port: int | None, in_browser: bool) -> None:
    """Start the Prefect server of this machine, unless it runs, and print the address of its UI.

    It stays until `cuzk ui stop`, listens on this machine only, and is the one that `cuzk bench batch`
    uses, with all batches so far. With PREFECT_API_URL set, prints that server's address.
    """
    if context.invoked_subcommand is not None:
        if port is not None or in_browser:
            raise click.UsageError(f"{context.invoked_subcommand} takes neither --port nor --open")
        return
    import webbrowser

    from config import home
    from flows.server.staying import start_to_stay

    server = start_to_stay(home(), port, say)
    print(f"Prefect UI: {server.ui_url}")
    if server.local is not None:
        say(f"it stays until: {program()} ui stop")
    if in_browser and not webbrowser.open(server.ui_url):
        say("no browser is found here; open the address in one")


@ui.command(short_help="End the server.")
def stop() -> None:
    """End the server that `cuzk ui` started; what uses it at the time may finish first: a batch, or a
    `cuzk serve`, which does not end by itself.
    """
    from config import home
    from flows.server.staying import end_stay
    from flows.server.users import used_by

    server = end_stay(home(), say)
    users = used_by(server.folder) or "a `cuzk serve` or a batch"
    ended = f"ends when what uses it has ended: {users}" if server.is_alive() else "has been stopped"
    print(f"the Prefect server at {server.api_url} {ended}")


@ui.command(short_help="Tell where the server is.")
def status() -> None:
    """Tell where the Prefect server is, and whether it stays; status 1 if none runs."""
    from config import home
    from flows.server.chosen import how_to_tune, named_server, trouble
    from flows.server.local import running_server
    from flows.server.users import used_by

    if named_url := named_server():
        why = trouble(named_url)
        print(f"{named_url}: {why or 'answers'}")
        if why is None and (advice := how_to_tune(named_url)):
            print(advice)
        sys.exit(why is not None)
    server = running_server(home() / "prefect")
    if server is None:
        print(f"no Prefect server runs; start one: {program()} ui")
        sys.exit(1)
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(server.process_started_at))
    users = used_by(server.folder)
    until = f"what uses it has ended: {users or 'a `cuzk serve` or a batch'}"
    if server.stays:
        until = "it is stopped"
    answers = "answers" if trouble(server.api_url) is None else "does not answer yet"
    print(f"Prefect UI: {server.ui_url}\nprocess {server.pid} {answers}; since {since}, until {until}")
    if server.stays and users:
        print(f"used by {users}")
    print(f"log {server.log_path}")
