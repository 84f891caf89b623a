"""`cuzk daemon`: the engine of this host, for clients."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import INPUT_FILE, say


@click.command(short_help="Prove for clients of this host, over gRPC, until SIGTERM.")
@click.option(
    "--config",
    "-c",
    "config_path",
    type=INPUT_FILE,
    metavar="FILE",
    help="Configuration file (default: $CUZK_CONFIG, else ./cuzk.toml if it is there).",
)
@click.option(
    "--listen", "-l", metavar="ADDRESS", help='"HOST:PORT" or "unix:///PATH" (default: the settings\').'
)
@click.option("--status-listen", metavar="ADDRESS", help='Of HTTP; "" for none (default: the settings\').')
@click.option(
    "--log-level",
    type=click.Choice(["trace", "debug", "info", "warn", "error"]),
    help="How much is logged (default: the settings').",
)
def daemon(
    config_path: Path | None, listen: str | None, status_listen: str | None, log_level: str | None
) -> None:
    """Own this host's engine: keys stay in memory, and all clients share one budget.

    Prints where it listens and where its log is. SIGTERM and Ctrl-C let what runs end, and keep what waits
    for the next start; the second one ends it at once. SIGHUP reads the settings again.
    """
    from config import Config, load_config
    from daemon.run import Start, run

    def load() -> Config:
        config = load_config(config_path)
        given = {"listen": listen, "status_listen": status_listen}
        told = {key: value for key, value in given.items() if value is not None}
        logging = {} if log_level is None else {"level": log_level}
        return config.model_copy(
            update={
                "daemon": config.daemon.model_copy(update=told),
                "logging": config.logging.model_copy(update=logging),
            }
        )

    run(Start(load(), load, lambda line: print(line, flush=True), say))
