"""Whether a batch's sums use a table of multiples of the key's H points: decided here, and nowhere else.

H's scalars are long, whatever the witness; of the other points' most are bits or small, and gain nothing (see
`kernels.cpu.tables`, and docs/precomputation.md for the figures). A table must

    be faster    only sizes at which it is in measurements: larger tables leave the caches
    pay          a proof saves a fifth to a twentieth of H's sum; reading a table takes a quarter of such a
                 sum, making one two to seven
    take no room as many partitions fit at once as without it, or all that can be under way at once
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.catalog import CircuitSpec
from engine.circuit import load_shape
from engine.key_notes import keeps_table
from engine.limits import threads
from groth16.zkey import read_header
from kernels.table_shape import SETS
from policy import Circuit, Limits, capacities

if TYPE_CHECKING:
    from config import Config

LEAST_DOMAIN, LARGEST_DOMAIN, LARGEST_DOMAIN_IN_LANES = 1 << 13, 1 << 15, 1 << 16
MOST_THREADS = 16  # each range of points has buckets of its own, and more threads take more ranges
FEWEST_PROOFS, FEWEST_PROOFS_OF_KEPT = 64, 4  # to make a table, and to read one that is there


def with_table(spec: CircuitSpec, proofs: int, config: Config, limits: Limits) -> CircuitSpec:
    """The circuit with a table where one helps a batch of so many proofs (partitions each count as one).

    Raises as `open_circuit`.
    """
    if config.srs.tables == "off" or not _is_faster(spec, limits) or not _pays(spec, proofs):
        return spec
    tabled = replace(spec, table=True)
    takes_room = _under_way(limits, load_shape(tabled)) < _under_way(limits, load_shape(spec))
    return spec if takes_room else tabled


def _is_faster(spec: CircuitSpec, limits: Limits) -> bool:
    on_processors = all(device.memory_bytes is None for device in limits.devices)
    if not on_processors or not _share_evenly(threads(spec.proving_threads)):
        return False
    header = read_header(spec.zkey)
    if not LEAST_DOMAIN <= header.domain_size <= LARGEST_DOMAIN_IN_LANES:
        return False
    from kernels.cpu.lanes import lanes_of  # loads the compiler

    return header.domain_size <= LARGEST_DOMAIN or lanes_of(header.curve.fq) is not None


def _share_evenly(n_threads: int) -> bool:
    return n_threads <= SETS or (n_threads <= MOST_THREADS and n_threads % SETS == 0)


def _pays(spec: CircuitSpec, proofs: int) -> bool:
    is_kept = proofs >= FEWEST_PROOFS_OF_KEPT and keeps_table(spec.zkey, spec.derived)
    return is_kept or proofs >= FEWEST_PROOFS


def _under_way(limits: Limits, shape: Circuit) -> int:
    """How many partitions can hold their working sets at once: by the budget, and by what works on them."""
    [capacity] = capacities(limits, [shape])
    workers = sum(device.workers for device in limits.devices)
    return min(capacity.alone, limits.synthesis_slots + limits.synthesis_lookahead + workers)
