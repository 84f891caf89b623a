"""A batch in mode "simulated": the same DAG of tasks, of what a modelled machine would have done."""

import asyncio

from prefect.runtime import flow_run

from db import History, RunDetail, open_history, show_run, stage_spans
from engine import EngineError, ProofCancelled, ProofFailed
from engine.outputs import usual_folder
from flows.display.artifacts import ProgressBar, show_end
from flows.display.followers import Followers
from flows.display.progress import tell, teller
from flows.display.shape import Shape
from flows.display.shown import BEHIND, shown
from flows.parameters.batch import BatchParameters, batch_config
from flows.simulated.proofs import SimulatedProofs
from flows.simulated.simulation import SimulationParameters, simulate_batch
from flows.summary import BatchSummary, Proofs, ProofSummary, begun
from tasks.source import source


async def prove_on_a_model(parameters: BatchParameters) -> BatchSummary:
    """Simulate the batch, and show it in the flow run that this is called in."""
    run_id = await asyncio.to_thread(simulate_batch, parameters, SimulationParameters(), teller())
    config = batch_config(parameters, lambda _: None)
    with open_history(config.history_url(), spool=config.history_spool()) as history:
        detail = await asyncio.to_thread(show_run, history, run_id)
        summary = _summary(parameters, history, detail)
        if told := begun.get():
            told(summary)
        await _show(history, detail, parameters.tasks == "each")
        tell(f"simulated: {summary.headline}")
        summary.output.mkdir(parents=True, exist_ok=True)
        await show_end(history, summary)
    return summary


def _summary(parameters: BatchParameters, history: History, detail: RunDetail) -> BatchSummary:
    run_id = detail.run.id
    output = (parameters.output or usual_folder(run_id)).absolute()
    proofs = Proofs(
        ProofSummary(each.proof.name, (each.proof.ended_s or 0.0) - each.proof.submitted_s, _error(detail, n))
        for n, each in enumerate(detail.proofs)
    )
    return BatchSummary(
        run_id, history.address, output, None, flow_run.ui_url, parameters.count, proofs=proofs
    )


def _error(detail: RunDetail, index: int) -> EngineError | None:
    proof = detail.proofs[index].proof
    if proof.state == "succeeded":
        return None
    kind = ProofCancelled if proof.state == "cancelled" else ProofFailed
    return kind(f"{proof.name}: {(proof.error or proof.state).removeprefix(f'{proof.name}: ')}")


async def _show(history: History, detail: RunDetail, each: bool) -> None:
    spans = await asyncio.to_thread(stage_spans, history, detail.run.id)
    proofs, bar, count = SimulatedProofs(detail, spans), ProgressBar(), len(detail.proofs)
    first = detail.proofs[0].proof
    token = source.set(proofs)
    async with Followers(BEHIND) as followers:
        shape = Shape(
            first.circuit, count, first.partition_count, lambda index: detail.proofs[index].proof.name, each
        )
        display = shown(proofs, shape, followers)
        for index, ended in enumerate(detail.proofs):
            await display.submitted(index, ended.proof.id, ended.proof.name)
            display.ended(index, ended.proof.id, _error(detail, index))
            if index % BEHIND == 0:
                await bar.show(index, count, f"{index} of {count} shown")
    source.reset(token)
    await bar.show(count, count, f"{count} of {count} shown")
