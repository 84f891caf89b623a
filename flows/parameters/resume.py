"""Taking up a batch that did not finish: the same proofs into the same folder, but those that are there."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from config import ConfigError
from db import Filter, History, Run, find_run, list_runs, open_history
from engine.outputs import usual_folder
from flows.parameters.batch import BatchParameters, batch_config, first_problem
from flows.parameters.inputs import input_files

RECORD = "batch.json"
FROM_THE_RUN = ("circuit", "count", "inputs", "partitions")
"""What is proved; how it is proved, the new parameters say."""


def keep(parameters: BatchParameters, output: Path) -> None:
    """Keep in the batch's folder what it is to prove, for a later run that takes it up. Raises OSError."""
    output.mkdir(parents=True, exist_ok=True)
    partial = output / f".{RECORD}.partial"
    inputs = [path.absolute() for path in input_files(parameters.inputs)]  # a folder may get more of them
    kept = parameters.model_copy(update={"inputs": inputs})
    partial.write_text(kept.model_dump_json(indent=1), encoding="utf-8")
    partial.replace(output / RECORD)


def taken_up(parameters: BatchParameters, flow_run_id: str | None = None) -> BatchParameters:
    """The parameters with what the run proves that they resume, and its folder; else as they are.

    They name it by its id, or by that of its flow run, which the UI's addresses have. flow_run_id: of the
    caller. What it has begun before, if it runs again, is what it resumes.
    Raises ConfigError for a run that cannot be resumed, HistoryError where there is none of that id.
    """
    if parameters.engine or (parameters.resume is None and flow_run_id is None):
        return parameters
    config = batch_config(parameters, lambda _: None)
    with open_history(config.history_url(), spool=config.history_spool()) as history:
        run = _begun_by(history, flow_run_id)
        if run is None and parameters.resume is not None:
            run = _begun_by(history, parameters.resume) or find_run(history, parameters.resume)
    if run is None:
        return parameters
    _refuse(run)
    output = _folder(run)
    kept = _read(output / RECORD)
    if parameters.circuit not in ("", kept.circuit):
        raise ConfigError(f"resume: run {run.id} proves {kept.circuit!r}, and not {parameters.circuit!r}")
    of_run = {name: getattr(kept, name) for name in FROM_THE_RUN}
    name = parameters.name or kept.name
    return parameters.model_copy(update={**of_run, "name": name, "output": output, "resume": run.id})


def _begun_by(history: History, flow_run_id: str | None) -> Run | None:
    """The newest run of the flow run, if there is one and its folder is there."""
    if flow_run_id is None:
        return None
    runs = list_runs(history, 1, Filter(source="real", flow_run_id=flow_run_id))
    found = [each.run for each in runs if (_folder(each.run) / RECORD).exists()]
    return found[0] if found else None


def _refuse(run: Run) -> None:
    if run.source != "real":
        raise ConfigError(f"resume: run {run.id} is simulated and made no proofs; choose a real one")
    if run.state == "running":
        raise ConfigError(f"resume: run {run.id} goes on in process {run.pid} of {run.host}; end it first")


def _folder(run: Run) -> Path:
    """Where its proofs are; the history may have kept a digest of that."""
    path = Path(run.output_path or "")
    return path if path.is_absolute() else usual_folder(run.id)


def _read(path: Path) -> BatchParameters:
    try:
        return BatchParameters.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"resume: {path}: cannot be read ({error.strerror}), so what is left is not known"
        ) from error
    except ValidationError as error:
        raise ConfigError(f"resume: {path}: {first_problem(error)}; start a new batch") from error
