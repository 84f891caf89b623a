"""Settings that a simulation found good, as a file that the program loads."""

import json
from collections.abc import Mapping

from config import format_size
from sim.question import Question
from sim.settings import CONFIG_KEYS, toml_value


def config_text(question: Question, settings: Mapping[str, str]) -> str:
    """A cuzk.toml: the budget of the first host, and every setting that was varied.

    What is of the machine or the workload stands in comments, as no setting can bring it about.
    """
    scenario = question.scenario(settings)
    own = {key: value for key, value in settings.items() if key in CONFIG_KEYS}
    limits = scenario.hosts[0].limits
    values = {"memory.total_budget": f"{format_exactly(limits.budget_bytes)}"} | own
    lines = ["# Found by `cuzk sim sweep`."]
    lines += [f"# simulated with {key} = {value}" for key, value in settings.items() if key not in own]
    by_section: dict[str, list[str]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        by_section.setdefault(section, []).append(f"{name} = {json.dumps(toml_value(value))}")
    for section, entries in by_section.items():
        lines += ["", f"[{section}]", *entries]
    return "\n".join(lines) + "\n"


def format_exactly(size_bytes: int) -> str:
    """In the largest unit that leaves nothing over."""
    power = next(power for power in range(5, -1, -1) if size_bytes % 1024**power == 0)
    return format_size(size_bytes) if power and size_bytes // 1024**power < 1024 else f"{size_bytes}B"
