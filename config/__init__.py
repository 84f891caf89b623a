"""Settings: one TOML file, a default for every value, sizes as "2GiB" and durations as "5m".

The sections and keys are those of the Rust daemon cuzk, so that its file can be used as it is; `[history]`
and `[circuits.NAME]` are additions.
"""

from config.environment import environment, history_url, home
from config.errors import ConfigError
from config.load import load_config
from config.model import (
    CircuitConfig,
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
)
from config.names import nearest
from config.units import format_size, parse_budget, parse_duration, parse_size

__all__ = [
    "CircuitConfig",
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
    "environment",
    "format_size",
    "history_url",
    "home",
    "load_config",
    "nearest",
    "parse_budget",
    "parse_duration",
    "parse_size",
]
