"""Set once, with the first reason, and told to whoever cannot look."""

import pytest

from kernels.parallel import Stopped
from kernels.stop_flag import StopFlag


def test_the_first_reason_stays() -> None:
    stop, first = StopFlag(), ValueError("first")
    stop.check()
    stop.set(first)
    stop.set(ValueError("second"))
    assert stop.is_set()
    assert stop.why is first
    with pytest.raises(Stopped):
        stop.check()


def test_an_action_is_called_once_and_only_inside_its_block() -> None:
    stop, calls = StopFlag(), []
    with stop.interrupting(lambda: calls.append("left")):
        pass
    with stop.interrupting(lambda: calls.append("inside")):
        stop.set()
        stop.set()
    assert calls == ["inside"]
    with pytest.raises(Stopped), stop.interrupting(lambda: calls.append("late")):
        raise AssertionError("begun though it is stopped")
    assert calls == ["inside"]
