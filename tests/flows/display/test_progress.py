"""The lines that say how a batch gets on."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from prefect.logging import disable_run_logger

from flows.display import artifacts as artifacts_module
from flows.display import progress as module
from flows.display.artifacts import ProgressBar
from flows.display.progress import Progress
from flows.summary import observer
from tasks.source import source


@dataclass
class Explaining:
    """An engine that knows what each proof does."""

    does: dict[str, str]

    def has_ended(self, proof_id: str) -> bool:
        return proof_id not in self.does

    def explain(self, proof_id: str) -> str:
        return f"{proof_id}[0] {self.does[proof_id]}"


@pytest.fixture
def told() -> Iterator[list[str]]:
    lines: list[str] = []
    does = {"a1": "is proving", "b2": "waits for 2GiB to be free", "c3": "waits", "d4": "waits"}
    shown, told = source.set(Explaining(does)), observer.set(lines.append)  # type: ignore[arg-type]  # all that is asked
    with disable_run_logger():
        yield lines
    observer.reset(told)
    source.reset(shown)


def test_ends_are_told_with_how_many_are_proved(told: list[str]) -> None:
    progress = Progress(3)
    progress.submitted("a1", "merkle #1")
    progress.submitted("b2", "merkle #2")
    progress.succeeded("b2", 3.14)
    progress.failed("a1", ValueError("merkle #1: constraint 3 fails"))
    assert told == ["merkle #2 proved in 3.1 s (1 of 3)", "failed: merkle #1: constraint 3 fails"]
    assert progress.word() == "1 of 3 proved"


def test_a_word_tells_what_the_oldest_do_and_how_many_more_there_are(told: list[str]) -> None:  # noqa: ARG001 for the engine
    progress = Progress(9)
    for number, proof_id in enumerate(("a1", "b2", "c3"), 1):
        progress.submitted(proof_id, f"merkle #{number}")
    three = "merkle #1 is proving; merkle #2 waits for 2GiB to be free; merkle #3 waits"
    assert progress.word() == f"0 of 9 proved; {three}"
    progress.submitted("d4", "merkle #4")
    assert progress.word() == f"0 of 9 proved; {three}; and 1 more"


def test_what_has_ended_is_not_under_way(told: list[str]) -> None:  # noqa: ARG001 for the engine
    progress = Progress(9)
    for number, proof_id in enumerate(("ended", "ended too", "a1"), 1):
        progress.submitted(proof_id, f"merkle #{number}")
    assert progress.word() == "0 of 9 proved; merkle #3 is proving"


def test_words_come_by_themselves_until_the_block_ends(
    told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WORD_EVERY_S", 0.01)

    async def steps() -> int:
        async with Progress(1).words():
            await asyncio.sleep(0.1)
        count = len(told)
        await asyncio.sleep(0.1)
        return count

    assert 1 <= asyncio.run(steps()) == len(told)
    assert told[0].endswith(" s: 0 of 1 proved")


class SlowBar:
    """As one whose server is busy."""

    def __init__(self) -> None:
        self.begun, self.shown = 0, list[int]()

    async def show(self, ended: int, count: int, words: str) -> None:  # noqa: ARG002
        self.begun += 1
        await asyncio.sleep(0.02)
        self.shown.append(ended)

    def begin_last(self, ended: int, count: int, words: str) -> None:
        self.last = asyncio.create_task(self.show(ended, count, words))


@pytest.mark.usefixtures("told")
def test_a_batch_that_ends_while_its_bar_is_made_has_one_bar() -> None:
    """A second one would be made if the making of the first were broken off, as it is not known by then."""
    bar = SlowBar()

    async def short() -> None:
        progress = Progress(1, bar=bar)  # type: ignore[arg-type]  # all that is asked
        async with progress.words():
            progress.ended = 1
            await asyncio.sleep(0.001)
        await bar.last

    asyncio.run(short())
    assert bar.begun == len(bar.shown)
    assert bar.shown[-1] == 1


@pytest.fixture
def artifacts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """What becomes of the bar on the server, instead of one."""
    found: list[tuple[str, float]] = []

    async def made(percent: float, key: str, words: str) -> UUID:  # noqa: ARG001
        await asyncio.sleep(0.001)
        found.append(("made", percent))
        return uuid4()

    async def moved(artifact_id: UUID, percent: float, words: str) -> None:  # noqa: ARG001
        await asyncio.sleep(0.001)
        found.append(("moved", percent))

    monkeypatch.setattr(artifacts_module, "acreate_progress_artifact", made)
    monkeypatch.setattr(artifacts_module, "aupdate_progress_artifact", moved)
    return found


def test_a_bar_comes_to_its_end_whatever_ends_the_batch(artifacts: list[tuple[str, float]]) -> None:
    async def batch() -> None:
        async with ProgressBar() as bar:
            await bar.show(1, 4, "1 of 4")
            bar.begin_last(3, 4, "3 of 4")
            assert artifacts == [("made", 25.0)], "nobody has waited for the last"
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 it is the one above
        asyncio.run(batch())
    assert artifacts == [("made", 25.0), ("moved", 75.0)]


def test_a_batch_that_is_over_at_once_has_no_bar(artifacts: list[tuple[str, float]]) -> None:
    async def batch() -> None:
        async with ProgressBar() as bar:
            bar.begin_last(4, 4, "4 of 4")

    asyncio.run(batch())
    assert artifacts == []
