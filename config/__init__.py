"""Settings: one TOML file, a default for every value, sizes as "2GiB" and durations as "5m".

The sections and keys are those of the Rust daemon cuzk, so that its file can be used as it is; `[history]`,
`[client]` and `[circuits.NAME]` are additions.

What needs pydantic is loaded when it is first asked for: a single proof needs units and names only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from config.environment import (
    DERIVED_LIMIT_BYTES,
    environment,
    history_spool,
    history_url,
    home,
    param_cache,
    settings_file,
)
from config.errors import ConfigError
from config.names import nearest
from config.units import format_size, format_size_up, parse_budget, parse_duration, parse_size

if TYPE_CHECKING:
    from config.load import load_config
    from config.model import (
        CircuitConfig,
        ClientConfig,
        Config,
        DaemonConfig,
        GpusConfig,
        HistoryConfig,
        LoggingConfig,
        MemoryConfig,
        PipelineConfig,
        SchedulerConfig,
        SrsConfig,
        SynthesisConfig,
        TimeoutsConfig,
    )

__all__ = [
    "DERIVED_LIMIT_BYTES",
    "CircuitConfig",
    "ClientConfig",
    "Config",
    "ConfigError",
    "DaemonConfig",
    "GpusConfig",
    "HistoryConfig",
    "LoggingConfig",
    "MemoryConfig",
    "PipelineConfig",
    "SchedulerConfig",
    "SrsConfig",
    "SynthesisConfig",
    "TimeoutsConfig",
    "environment",
    "format_size",
    "format_size_up",
    "history_spool",
    "history_url",
    "home",
    "load_config",
    "nearest",
    "param_cache",
    "parse_budget",
    "parse_duration",
    "parse_size",
    "settings_file",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("config.load" if name == "load_config" else "config.model"), name)
    raise AttributeError(f"module 'config' has no attribute {name!r}")
