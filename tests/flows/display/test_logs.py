"""What reaches the UI and what the terminal."""

import json
import logging
import threading
from pathlib import Path
from typing import Literal
from uuid import uuid4

import pytest
from prefect.logging.handlers import APILogHandler

from config import LoggingConfig
from engine import ProofFailed
from flows.display.logs import engine_log_in_ui, leave_out_what_is_told, quiet_terminal, run_log


def test_what_the_engine_logs_in_any_thread_belongs_to_the_flow_run(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[object, str]] = []
    monkeypatch.setattr(
        APILogHandler,
        "emit",
        lambda _self, record: sent.append((record.flow_run_id, record.getMessage())),
    )
    flow_run_id, log = str(uuid4()), logging.getLogger("cuzk.engine")
    with engine_log_in_ui(flow_run_id):
        thread = threading.Thread(target=log.warning, args=("%d bytes", 3))
        thread.start()
        thread.join()
    log.warning("later")
    assert sent == [(flow_run_id, "3 bytes")]


@pytest.mark.parametrize("style", ["text", "json"])
def test_a_run_has_a_log_file_of_its_own_as_the_settings_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], style: Literal["text", "json"]
) -> None:
    log, path = logging.getLogger("cuzk.engine"), tmp_path / "logs" / "run.log"
    with run_log(path, LoggingConfig(level="warn", format=style)):
        log.info("a decision")
        log.warning("%d bytes", 3)
    log.error("later")
    assert capsys.readouterr().err == "3 bytes\n"
    (line,) = path.read_text().splitlines()
    assert "3 bytes" in line
    if style == "json":
        fields = json.loads(line)
        assert (fields["level"], fields["logger"], fields["message"]) == ("warning", "cuzk.engine", "3 bytes")
    with pytest.raises(FileExistsError), run_log(path, LoggingConfig()):
        pass


@pytest.mark.filterwarnings("ignore:Logger 'prefect.flow_runs' attempted to send logs")  # of no flow run here
def test_the_terminal_does_not_see_runs_inside_the_block(caplog: pytest.LogCaptureFixture) -> None:
    run, level = logging.getLogger("prefect.flow_runs"), logging.getLogger("prefect._internal").level
    with caplog.at_level(logging.INFO):
        with quiet_terminal():
            run.error("a traceback")
            logging.getLogger("cuzk.engine").error("stopped")
        run.error("again")
    assert [record.message for record in caplog.records] == ["stopped", "again"]
    assert logging.getLogger("prefect._internal").level == level


@pytest.mark.filterwarnings("ignore:Logger 'prefect.task_runs' attempted to send logs")  # of no task here
@pytest.mark.parametrize(
    ("cause", "has_traceback"),
    [(None, False), (OSError("no space"), False), (KeyError("a fault of ours"), True)],
)
def test_a_task_that_fails_has_a_traceback_where_its_words_do_not_say_it_all(
    caplog: pytest.LogCaptureFixture, cause: Exception | None, has_traceback: bool
) -> None:
    leave_out_what_is_told()
    error = ProofFailed("merkle #2: no")
    error.__cause__ = cause
    logging.getLogger("prefect.task_runs").error("Task run failed with exception", exc_info=error)
    logging.getLogger("prefect.task_runs").error("Finished in state Failed", exc_info=True)  # of no error
    assert [bool(record.exc_info) for record in caplog.records] == [has_traceback, False]
