"""The flow `capacity_study`: a question to the simulator, answered by tables and pictures in Prefect's UI."""

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from prefect import State, flow, get_run_logger
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact
from prefect.states import Completed, Failed
from pydantic import Field, model_validator

from config.refusals import is_refusal
from flows.server.local import Say
from flows.study.form_words import in_the_form
from flows.study.pictures import compared_png, pareto_png, pictured
from flows.study.questions import MOST_SEEDS, QuestionParameters
from flows.study.rows import difference_rows, figure_rows, in_a_sentence, point_rows, step_rows
from flows.study.studies import NEVER_LATE, Study, study
from plots import run_pictures
from sim.plan import MEMORY_STEP
from sim.settings import read_settings

Rows = list[dict[str, str]]


class StudyParameters(QuestionParameters):
    """The form of a capacity study: what is asked, of which workload and machine."""

    kind: Literal["run", "sweep", "compare", "plan"] = Field(
        "run",
        title="Kind",
        description="Run: the workload on the machine. Sweep: every combination of what is varied. "
        "Compare: side by side with other settings. Plan: the least that does.",
    )
    vary: list[str] = Field(
        [],
        title="Varied",
        description="Of a sweep: KEY=VALUES each, such as memory.total_budget=1GiB,2GiB; on a machine whose "
        "profile has hosts also machine.gpus=1..4 or machine.memory=256GiB,384GiB.",
    )
    others: list[str] = Field(
        [],
        title="Other settings",
        description="Of a comparison: KEY=VALUE pairs with blanks between, one line a case. Empty: fixed "
        "numbers of partitions at once.",
    )
    find: Literal["memory", "gpus", "hosts", "load"] = Field(
        "memory",
        title="Looked for",
        description="Of a plan: the least of this on a machine whose profile has hosts, or the most load "
        "of a workload in which proofs arrive by themselves.",
    )
    goals: list[str] = Field(
        [], title="Goals", description="Of a plan: bounds such as latency_p99_s[porep-32g]<=2h."
    )
    late: str = Field(
        NEVER_LATE, title="May be late", description="Which share of the deadlines may be missed, as 1%."
    )
    step: str = Field(MEMORY_STEP, title="Step", description="Of a plan for memory.")

    @model_validator(mode="before")
    @classmethod
    def _as_it_was_left(cls, given: Any) -> Any:
        """The form sends every field: one that is as it was before is nobody's word against another."""
        if not isinstance(given, dict):
            return given
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        return {
            name: value for name, value in given.items() if name not in defaults or value != defaults[name]
        }

    @model_validator(mode="after")
    def _something_varied(self) -> Self:
        if self.kind == "sweep" and not self.vary:
            raise ValueError("a sweep varies something; give it as KEY=VALUES under Varied")
        return self


@dataclass(frozen=True)
class Findings:
    """What a study found: a sentence, tables by title, PNG pictures by title, and what those show."""

    headline: str
    tables: dict[str, Rows]
    pictures: dict[str, bytes] = field(default_factory=dict)
    pictured: str = ""


@flow(name="capacity_study", flow_run_name="{parameters.kind} {parameters.title}", persist_result=False)
async def capacity_study(parameters: StudyParameters) -> State[str]:
    """Simulate a workload on a machine, and show what it comes to as artifacts.

    Every run that is simulated is kept in the history, with the source "sim".
    """
    log = get_run_logger()
    loop = asyncio.get_running_loop()

    def say(line: str) -> None:
        loop.call_soon_threadsafe(log.info, "%s", in_the_form(line))

    try:
        findings = await asyncio.to_thread(_find, parameters, say)
    except Exception as error:  # given to Prefect as a state, since it writes to disk what a flow raises
        message = in_the_form(str(error))
        log.error("%s", message, exc_info=not is_refusal(error))
        return Failed(message=message, data=error)
    await _show(findings)
    found = in_the_form(findings.headline)
    return Completed(message=found, data=found)


def _find(parameters: StudyParameters, say: Say) -> Findings:
    with study(parameters, say, recorded=MOST_SEEDS) as asked:
        return {"run": _run, "sweep": _sweep, "compare": _compare, "plan": _plan}[parameters.kind](
            asked, parameters
        )


def _run(asked: Study, _parameters: StudyParameters) -> Findings:
    summary = asked.run()
    found, tables = in_a_sentence(summary), {"figures": figure_rows(summary)}
    if not summary.by_seed[0].run_ids:
        return Findings(found, tables)
    drawn = pictured(asked.history, summary)
    told = "; ".join(filter(None, [drawn.words, drawn.lacks_stages]))
    return Findings(found, tables, run_pictures(drawn.run), told)


def _sweep(asked: Study, parameters: StudyParameters) -> Findings:
    swept = asked.sweep(parameters.vary, parameters.late)
    found = swept.none_does if swept.winner is None else _settings(swept.winner.settings)
    picture = pareto_png(parameters.title, swept)
    if swept.best[1:]:
        found += (
            f"; as good, to within the error: {', or '.join(_settings(e.settings) for e in swept.best[1:])}"
        )
    return Findings(f"best: {found}", {"points": point_rows(swept)}, {"cost and gain": picture})


def _compare(asked: Study, parameters: StudyParameters) -> Findings:
    cases = [read_settings(text.split(), "--with") for text in parameters.others]
    summaries = asked.compare(cases)
    picture = compared_png(parameters.title, summaries)
    headline = f"{len(summaries)} ways side by side"
    return Findings(headline, {"cases": difference_rows(summaries)}, {"side by side": picture})


def _plan(asked: Study, parameters: StudyParameters) -> Findings:
    found = asked.plan(parameters.find, parameters.goals, parameters.late, parameters.step)
    tables = {"steps": step_rows(found)} | ({"figures": figure_rows(found.found)} if found.found else {})
    if found.least is None:
        return Findings(f"no {found.axis.name} does: {found.why_not}", tables)
    return Findings(f"{found.axis.key}={found.least} does", tables)


def _settings(settings: Mapping[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


async def _show(findings: Findings) -> None:
    found = in_the_form(findings.headline)
    for title, rows in findings.tables.items():
        if rows:
            worded = [{head: in_the_form(cell) for head, cell in row.items()} for row in rows]
            await acreate_table_artifact(worded, _key(title), found)
    if findings.pictures:
        lines = [f"## {title}\n\n![{title}](data:image/png;base64,{b64encode(png).decode()})"
                 for title, png in findings.pictures.items()]  # fmt: skip
        text = "\n\n".join(filter(None, [findings.pictured, *lines]))
        await acreate_markdown_artifact(text, "pictures", found)


def _key(title: str) -> str:
    return title.replace(" ", "-")
