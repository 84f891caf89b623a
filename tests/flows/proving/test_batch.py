"""A batch in an engine: what a failure ends, and what comes of each proof."""

import asyncio
import errno
from pathlib import Path

import pytest
from prefect.logging import disable_run_logger

from engine import CircuitSpec, EngineError, ProofCancelled, ProofFailed, ProofRequest, Rejected
from flows.display.progress import Progress
from flows.parameters.batch import BatchParameters
from flows.parameters.requests import Requests
from flows.proving.batch import Batch
from flows.summary import BatchSummary, Proofs, ProofSummary

SPEC = CircuitSpec("merkle", Path("merkle.zkey"), witness=Path("merkle.wtns"))


class Engine:
    """Fails the proofs that it is told to; the others end when they are asked for, or are cancelled."""

    def __init__(self, errors: dict[str, EngineError]) -> None:
        self._errors = errors
        self.submitted: list[str] = []

    def submit(self, request: ProofRequest) -> str:
        self.submitted.append(request.name)
        if isinstance(error := self._errors.get(request.name), Rejected):
            raise error
        return request.name

    async def result(self, proof_id: str) -> None:
        await asyncio.sleep(0 if proof_id in self._errors else 0.01)
        if error := self._errors.get(proof_id):
            raise error

    def has_ended(self, proof_id: str) -> bool:  # noqa: ARG002
        return True

    def cancel(self, proof_id: str) -> None:
        self._errors.setdefault(proof_id, ProofCancelled(f"{proof_id}: cancelled"))


class NotShown:
    """Counts ends."""

    def __init__(self) -> None:
        self.ends, self.given_up = 0, False

    async def submitted(self, index: int, proof_id: str, name: str) -> None: ...

    def ended(self, index: int, proof_id: str, error: Exception | None) -> None:  # noqa: ARG002
        self.ends += 1

    def give_up(self) -> None:
        self.given_up = True


def prove(errors: dict[str, EngineError], count: int, stop: bool = False) -> list[ProofSummary]:
    """What comes of a batch, two proofs at a time."""
    requests = Requests(BatchParameters(circuit="merkle", count=count), SPEC, Path("to"))
    display, engine = NotShown(), Engine(errors)
    batch = Batch(engine, requests, display, Progress(count), stop)  # type: ignore[arg-type]  # all that is asked
    with disable_run_logger():
        proofs = asyncio.run(batch.prove(range(count), 2))
    assert display.given_up
    assert display.ends == len(proofs) == len(engine.submitted)
    return proofs


@pytest.mark.parametrize("error", [ProofFailed("merkle #2: no"), ProofCancelled("merkle #2: cancelled")])
def test_a_proof_that_fails_is_one_of_the_summary_and_the_others_go_on(error: EngineError) -> None:
    proofs = prove({"merkle #2": error}, 5)
    assert [proof.error for proof in proofs] == [None, error, None, None, None]


def test_the_first_failure_ends_the_batch_where_that_is_asked_for() -> None:
    failure = ProofFailed("merkle #2: no")
    proofs = prove({"merkle #2": failure}, 50, stop=True)
    assert proofs[1].error is failure
    assert isinstance(proofs[0].error, ProofCancelled)
    assert len(proofs) == 2


def test_a_disk_without_space_ends_the_batch_and_its_words_say_how_to_go_on() -> None:
    failure = ProofFailed("merkle #2: OSError: [Errno 28] No space left on device: '/to/merkle-2'")
    failure.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    proofs = prove({"merkle #2": failure}, 50)
    assert [type(proof.error) for proof in proofs] == [ProofCancelled, ProofFailed]
    summary = BatchSummary("01a2", "history.db", Path("/to"), None, None, 50, proofs=Proofs(proofs))
    assert summary.headline.startswith(
        "0 of 50 proved, 1 failed, stopped after the first failure; merkle #2: "
    )
    assert summary.headline.endswith("; make space for /to, and resume run 01a2")


def test_what_concerns_all_proofs_ends_the_batch() -> None:
    with pytest.raises(Rejected):
        prove({"merkle #1": Rejected("merkle #1: never fits")}, 3)


def test_what_ends_well_while_a_cancelled_batch_closes_is_there(tmp_path: Path) -> None:
    """The proof that was being written when the batch was cancelled, and one that was not."""
    requests = Requests(BatchParameters(circuit="merkle", count=9), SPEC, tmp_path)
    engine = Engine({})
    batch = Batch(engine, requests, NotShown(), Progress(9), False)  # type: ignore[arg-type]  # all that is asked

    async def cancelled() -> list[ProofSummary]:
        proving = asyncio.create_task(batch.prove(range(9), 2))
        for _ in range(9):
            await asyncio.sleep(0)  # both are submitted, and take longer than that
        proving.cancel()
        await asyncio.wait([proving])
        engine.cancel("merkle #2")
        return await batch.so_far()

    with disable_run_logger():
        first, second = asyncio.run(cancelled())
    assert (first.name, first.error, first.seconds > 0) == ("merkle #1", None, True)
    assert (second.name, str(second.error)) == ("merkle #2", "cancelled with the batch")
