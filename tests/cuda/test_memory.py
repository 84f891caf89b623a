"""Scratch arrays that share their memory from one use to the next."""

import numpy as np

from kernels.cuda.memory import Workspace


def test_an_array_lies_in_the_memory_of_larger_ones_before():
    workspace = Workspace()
    large = workspace.array("a", (4, 6), "uint64")
    large.copy_to_device(np.full((4, 6), 7, np.uint64))
    small = workspace.array("a", (5,), "uint64")
    assert small.copy_to_host().tolist() == [7] * 5
    assert workspace.array("a", (4, 6), "uint64") is large
    assert workspace.held_bytes == large.nbytes


def test_a_larger_array_takes_the_place_of_smaller_ones():
    workspace = Workspace()
    small, other = workspace.array("a", (3,), "uint32"), workspace.array("b", (2,), "uint8")
    workspace.array("a", (8,), "uint32")
    assert workspace.held_bytes == 8 * 4 + 2
    assert workspace.array("a", (3,), "uint32") is not small
    assert workspace.array("b", (2,), "uint8") is other
    workspace.release()
    assert workspace.held_bytes == 0
