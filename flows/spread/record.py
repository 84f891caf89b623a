"""The run of a batch on several hosts, in the history of the host where it runs: its end, and its proofs."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect.runtime import flow_run

from config import Config
from db import History, HistoryWriter, Proof, Run, State, open_history
from engine import ProofCancelled
from engine.leftovers import clean_up
from flows.display.progress import tell
from flows.parameters.batch import BatchParameters
from flows.spread.spread import Wanted
from flows.summary import BatchSummary, ProofSummary, begun
from flows.version import code_version


@dataclass
class SpreadRecord:
    """summary: without proofs. The stages of proofs are in the histories of the hosts."""

    history: History
    writer: HistoryWriter
    summary: BatchSummary
    circuit: str
    wanted: Wanted

    def ended(self, index: int, proof: ProofSummary) -> None:
        """A proof has ended, in whatever way."""
        cancelled = isinstance(proof.error, ProofCancelled)
        state: State = "succeeded" if proof.error is None else "cancelled" if cancelled else "failed"
        row = Proof(
            run_id=self.summary.run_id,
            name=proof.name,
            circuit=self.circuit,
            partition_count=self.wanted.partitions,
            state=state,
            submitted_s=0.0,
            ended_s=proof.seconds,
            proof_path=str(self.wanted.requests.folder(index)) if proof.error is None else None,
            error=None if proof.error is None else str(proof.error),
        )
        self.writer.insert(row)

    def close(self, summary: BatchSummary) -> None:
        """All proofs have ended."""
        failed = summary.failed
        state, why = ("failed", str(failed[0].error)) if failed else ("succeeded", None)
        self.writer.update(Run, summary.run_id, state=state, error=why, ended_at=datetime.now(UTC))


@contextmanager
def recorded(
    parameters: BatchParameters, config: Config, run_id: str, output: Path, circuit: str, wanted: Wanted
) -> Iterator[SpreadRecord]:
    """Inside the block the run is under way in the history; an error that leaves it is how the run ends."""
    found = len(wanted.found)
    run = Run(
        id=run_id,
        source="real",
        name=parameters.title,
        proof_count=parameters.count - found,
        code_version=code_version(),
        flow_run_id=flow_run.id,
        output_path=str(output),
    )
    opened = open_history(config.history_url(), spool=config.history_spool(), hide=config.history.hash)
    with opened as history, history.writer() as writer:
        clean_up(config, history)
        writer.insert(run)
        summary = BatchSummary(
            run_id, history.address, output, None, flow_run.ui_url, parameters.count, found
        )
        if told := begun.get():
            told(summary)
        try:
            yield SpreadRecord(history, writer, summary, circuit, wanted)
        except asyncio.CancelledError:
            writer.update(Run, run_id, state="cancelled", ended_at=datetime.now(UTC))
            raise
        except Exception as error:
            writer.update(Run, run_id, state="failed", error=str(error), ended_at=datetime.now(UTC))
            raise
        if lost := writer.close():
            tell(str(lost))
