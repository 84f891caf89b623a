"""The files that a question is answered from, of which no output may take the place."""

from pathlib import Path

from config import Config, load_config, settings_file
from config.environment import history_file
from flows.study.questions import QuestionParameters
from sim import read_workload_table
from sim.profile import profile_path
from sim.workload_file import WorkloadTable, bundled_workloads


def inputs_of(parameters: QuestionParameters) -> list[Path]:
    """All that are read for it. Raises what the rooms raise for one that cannot be used."""
    found = [profile_path(parameters.machine), *settings_inputs(parameters.config)]
    names = [] if parameters.circuit is None else [parameters.circuit]
    if parameters.workload is not None:
        path = bundled_workloads().get(parameters.workload, Path(parameters.workload))
        found.append(path)
        if path.is_file():  # a pipe is read once, by who needs it
            table = read_workload_table(path)
            found += [path.parent / each.trace for each in table.arrivals if each.trace is not None]
            names += _circuits(table)
    config = _settings(parameters.config)
    return found + [path for name in names for path in _circuit_inputs(name, config)]


def settings_inputs(config_path: Path | None) -> list[Path]:
    """The settings' file, and the history that they name where it is a file."""
    named = [config_path or settings_file(), history_file(_settings(config_path).history_url())]
    return [path for path in named if path is not None]


def _settings(config_path: Path | None) -> Config:
    path = config_path or settings_file()
    # What is wrong or out of use in it is told when the question is asked. A pipe can be read but once.
    return Config() if path is not None and not path.is_file() else load_config(path, lambda _: None)


def _circuits(table: WorkloadTable) -> list[str]:
    named = [*(each.circuit for each in table.batches), *(each.circuit for each in table.arrivals)]
    return [name for name in named if name not in table.circuits]


def _circuit_inputs(name: str, config: Config) -> list[Path]:
    """Of a circuit that has files here; one that is bundled or known by its sizes has none to lose."""
    if name not in config.circuits:
        return []
    return [value for _, value in config.circuits[name] if isinstance(value, Path)]
