"""What is tried again, after which waits, and what is not."""

import asyncio
import errno
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from engine import CircuitSpec, Engine, ProofFailed, ProofRequest, outputs, retrying
from engine.retrying import io_may_pass, retried
from groth16.errors import InputError
from kernels.parallel import Stopped
from tests.engine.support import CONFIG, limits_for, run


def failure(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class Attempts:
    """Fails with these errors, one after the other, and then returns."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.count = list(errors), 0

    async def __call__(self) -> str:
        self.count += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "BACKOFF_S", (0.0, 0.01, 0.02))


def test_what_may_pass_is_tried_again_with_a_word(caplog: pytest.LogCaptureFixture) -> None:
    attempts = Attempts(failure(errno.EIO), failure(errno.ENOSPC))
    with caplog.at_level(logging.WARNING):
        assert asyncio.run(retried(attempts, "srs:merkle", lambda: False)) == "done"
    assert attempts.count == 3
    assert caplog.records[0].message == (
        "srs:merkle: OSError: [Errno 5] Input/output error; it is tried again in 0 s"
    )


def test_it_is_given_up_after_the_last_wait() -> None:
    attempts = Attempts(*(failure(errno.ESTALE) for _ in range(9)))
    with pytest.raises(OSError, match="Stale"):
        asyncio.run(retried(attempts, "x", lambda: False))
    assert attempts.count == 4


@pytest.mark.parametrize(
    "error", [InputError("bad"), failure(errno.ENOENT), failure(errno.EACCES), ValueError()]
)
def test_what_will_not_pass_is_not_tried_again(error: Exception) -> None:
    attempts = Attempts(error)
    with pytest.raises(type(error)):
        asyncio.run(retried(attempts, "x", lambda: False))
    assert attempts.count == 1


def test_a_stop_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "BACKOFF_S", (600.0,))
    with pytest.raises(Stopped):
        asyncio.run(retried(Attempts(failure(errno.EIO)), "x", lambda: True))


def test_the_cause_of_an_error_of_ours_counts() -> None:
    error = InputError("key.zkey: cannot be read")
    error.__cause__ = failure(errno.EIO)
    assert io_may_pass(error)
    error.__cause__ = failure(errno.ENOENT)
    assert not io_may_pass(error)


@pytest.mark.parametrize(("times", "made"), [(2, True), (9, False)])
def test_a_proof_that_cannot_be_written_now_is_written_later(
    multiplier: CircuitSpec,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    times: int,
    made: bool,
) -> None:
    real, left = outputs.write_proof, [times]

    def write(path: Path, proof: Any) -> None:
        if left[0]:
            left[0] -= 1
            raise failure(errno.ENOSPC)
        real(path, proof)

    monkeypatch.setattr(outputs, "write_proof", write)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 1)) as running:
            proof = running.submit(ProofRequest(multiplier, "one", tmp_path / "one"))
            if made:
                assert all(path.is_file() for path in (await running.result(proof)).proof_paths)
            else:
                with pytest.raises(ProofFailed, match="No space left"):
                    await running.result(proof)
                assert list((tmp_path / "one").iterdir()) == []

    with caplog.at_level(logging.WARNING):
        run(steps())
    told = [record.getMessage() for record in caplog.records if "again" in record.getMessage()]
    assert [line.partition(" [")[0] for line in told] == ["one: OSError:"] * min(times, 3)
