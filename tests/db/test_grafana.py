"""The dashboard's questions are answered by a history on PostgreSQL."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db import MemorySample, Run, ask, open_history

DASHBOARD = json.loads((Path(__file__).parents[2] / "docs/grafana.json").read_text())
MACROS = {
    r"\$__timeGroupAlias\((\w+), \$__interval\)": r"date_trunc('hour', \1) AS time",
    r"\$__timeFilter\((\w+)\)": r"\1 BETWEEN '2020-01-01' AND '2030-01-01'",
    r"\$host": "'box'",
}
"""Grafana's, as its PostgreSQL data source words them."""


def questions() -> Iterator[Any]:
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield pytest.param(variable["query"], id=variable["name"])
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield pytest.param(target["rawSql"], id=panel["title"])


@pytest.mark.parametrize("question", list(questions()))
def test_a_panel_is_answered(question: str, postgresql: str, write_batch: Callable[..., Run]) -> None:
    for macro, meaning in MACROS.items():
        question = re.sub(macro, meaning, question)
    assert "$" not in question
    with open_history(postgresql) as history:
        started_at = datetime(2026, 3, 2, tzinfo=UTC)
        run = Run(source="real", name="b", code_version="1", host="box", started_at=started_at)
        write_batch(history, run)
        with history.writer() as writer:
            writer.insert(MemorySample(run_id=run.id, sequence=0, at_s=1.0, reserved_bytes=5))
        answer = ask(history, question)
    assert answer.columns
    is_empty = "'failed'" in question or "wait_cause" in question or "history_cache" in question
    assert bool(answer.rows) is not is_empty
