"""What a thread does in a round of a transform (`kernels.cuda.ntt`): three levels of 8 elements."""

from typing import Any

from numba import int64

from kernels.cuda import field as f
from kernels.cuda.launch import device


@device
def _root(F: Any, roots: Any, index: int, inverse: bool) -> Any:
    """roots[index] or its inverse.

    Entries 2^k to 2^(k+1) are the odd powers of a root of order 2^(k+2), in an order in which an entry's
    mirror image is its inverse times −1.
    """
    if not inverse or index == 0:
        return f.load(F, roots, index)
    top = int64(1)
    while 2 * top <= index:
        top *= 2
    return f.sub(F, f.zero(F), f.load(F, roots, 3 * top - 1 - index))


@device
def _split(F: Any, u: Any, v: Any, root_is_one: bool, root: Any) -> Any:
    product = v if root_is_one else f.mul(F, root, v)
    return f.add(F, u, product), f.sub(F, u, product)


@device
def _join(F: Any, u: Any, v: Any, root_is_one: bool, root: Any) -> Any:
    difference = f.sub(F, u, v)
    return f.add(F, u, v), difference if root_is_one else f.mul(F, root, difference)


@device
def split_round(F: Any, x: Any, roots: Any, block: int, skip: int, inverse: bool) -> Any:
    """Three levels, but for the first `skip`, of 8 elements that are number `block` of the first's blocks."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    is_first = block == 0  # its root is one
    if skip < 1:
        root = _root(F, roots, block, inverse)
        x0, x4 = _split(F, x0, x4, is_first, root)
        x1, x5 = _split(F, x1, x5, is_first, root)
        x2, x6 = _split(F, x2, x6, is_first, root)
        x3, x7 = _split(F, x3, x7, is_first, root)
    if skip < 2:
        root = _root(F, roots, 2 * block, inverse)
        x0, x2 = _split(F, x0, x2, is_first, root)
        x1, x3 = _split(F, x1, x3, is_first, root)
        root = _root(F, roots, 2 * block + 1, inverse)
        x4, x6 = _split(F, x4, x6, False, root)
        x5, x7 = _split(F, x5, x7, False, root)
    x0, x1 = _split(F, x0, x1, is_first, _root(F, roots, 4 * block, inverse))
    x2, x3 = _split(F, x2, x3, False, _root(F, roots, 4 * block + 1, inverse))
    x4, x5 = _split(F, x4, x5, False, _root(F, roots, 4 * block + 2, inverse))
    x6, x7 = _split(F, x6, x7, False, _root(F, roots, 4 * block + 3, inverse))
    return x0, x1, x2, x3, x4, x5, x6, x7


@device
def join_round(F: Any, x: Any, roots: Any, block: int, skip: int) -> Any:
    """`split_round` backwards, but with roots in place of their inverses."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    is_first = block == 0  # its root is one
    x0, x1 = _join(F, x0, x1, is_first, f.load(F, roots, 4 * block))
    x2, x3 = _join(F, x2, x3, False, f.load(F, roots, 4 * block + 1))
    x4, x5 = _join(F, x4, x5, False, f.load(F, roots, 4 * block + 2))
    x6, x7 = _join(F, x6, x7, False, f.load(F, roots, 4 * block + 3))
    if skip < 2:
        root = f.load(F, roots, 2 * block)
        x0, x2 = _join(F, x0, x2, is_first, root)
        x1, x3 = _join(F, x1, x3, is_first, root)
        root = f.load(F, roots, 2 * block + 1)
        x4, x6 = _join(F, x4, x6, False, root)
        x5, x7 = _join(F, x5, x7, False, root)
    if skip < 1:
        root = f.load(F, roots, block)
        x0, x4 = _join(F, x0, x4, is_first, root)
        x1, x5 = _join(F, x1, x5, is_first, root)
        x2, x6 = _join(F, x2, x6, is_first, root)
        x3, x7 = _join(F, x3, x7, is_first, root)
    return x0, x1, x2, x3, x4, x5, x6, x7


@device
def load(F: Any, a: Any, i: int, step: int) -> Any:
    """Elements i, i + step, … of device memory."""
    return (
        f.load(F, a, i),
        f.load(F, a, i + step),
        f.load(F, a, i + 2 * step),
        f.load(F, a, i + 3 * step),
        f.load(F, a, i + 4 * step),
        f.load(F, a, i + 5 * step),
        f.load(F, a, i + 6 * step),
        f.load(F, a, i + 7 * step),
    )


@device
def store(F: Any, a: Any, i: int, step: int, x: Any) -> None:
    f.store(F, a, i, x[0])
    f.store(F, a, i + step, x[1])
    f.store(F, a, i + 2 * step, x[2])
    f.store(F, a, i + 3 * step, x[3])
    f.store(F, a, i + 4 * step, x[4])
    f.store(F, a, i + 5 * step, x[5])
    f.store(F, a, i + 6 * step, x[6])
    f.store(F, a, i + 7 * step, x[7])


@device
def take(F: Any, tile: Any, i: int, step: int, n: int) -> Any:
    """Elements i, i + step, … of the tile in shared memory."""
    return (
        f.load_plane(F, tile, i, n),
        f.load_plane(F, tile, i + step, n),
        f.load_plane(F, tile, i + 2 * step, n),
        f.load_plane(F, tile, i + 3 * step, n),
        f.load_plane(F, tile, i + 4 * step, n),
        f.load_plane(F, tile, i + 5 * step, n),
        f.load_plane(F, tile, i + 6 * step, n),
        f.load_plane(F, tile, i + 7 * step, n),
    )


@device
def put(F: Any, tile: Any, i: int, step: int, n: int, x: Any) -> None:
    f.store_plane(F, tile, i, n, x[0])
    f.store_plane(F, tile, i + step, n, x[1])
    f.store_plane(F, tile, i + 2 * step, n, x[2])
    f.store_plane(F, tile, i + 3 * step, n, x[3])
    f.store_plane(F, tile, i + 4 * step, n, x[4])
    f.store_plane(F, tile, i + 5 * step, n, x[5])
    f.store_plane(F, tile, i + 6 * step, n, x[6])
    f.store_plane(F, tile, i + 7 * step, n, x[7])
