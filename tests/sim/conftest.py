"""A pool of this process alone, and what it makes of a question."""

from collections.abc import Callable, Iterator

import pytest

from sim import Progress
from sim.pool import Pool, pool
from sim.question import Question
from sim.summary import Summary, summarize

SEEDS = range(3)


@pytest.fixture
def here() -> Iterator[Pool]:
    """Everything in this process."""
    with pool(1, Progress()) as playing:
        yield playing


@pytest.fixture
def summaries(here: Pool) -> Callable[..., list[Summary]]:
    """Of a question under each of some settings."""

    def make(asked: Question, *settings: dict[str, str]) -> list[Summary]:
        return summarize([asked.scenario(each) for each in settings], SEEDS, here)

    return make
