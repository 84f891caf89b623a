"""A profile learned from a published table: times are the published ones, memory is fitted to the rows.

What is taken as it stands: synthesis alone and with ten at once, the GPU's kernels on an idle machine and
beside ten syntheses, and the epilogue. Other CPU work of a proof overlaps with the kernels of others,
since one worker's cycle has no room for it. Two numbers are fitted, to the peaks: the share of a
working set that is there when synthesis begins, and scratch memory while proving.
"""

from collections.abc import Callable, Sequence
from itertools import product

from sim.contention import Cores
from sim.hardware import DeviceKind
from sim.profile import LoadModel, MachineProfile, MemoryModel, ObservedTimes, StageModel
from sim.published import GIB, PublishedRow, PublishedTable, row_errors

SYNTHESIZING = 10  # at once, where the table says so
STARTS = tuple(number / 20 for number in range(2, 15))
SCRATCHES = tuple(number / 10 for number in range(17))
VERIFY_S = 0.05
SYNTHESIS_CORES = 4.0
"""A guess: the witness, most of a synthesis, is one thread's work (extern/cuzk/cuzk-core/src/engine.rs of the
Curio project says so), and the evaluation at its end is every core's."""


def calibrate_published(
    table: PublishedTable,
    base: MachineProfile,
    name: str,
    rows: Sequence[PublishedRow] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> MachineProfile:
    """`base` gives hosts and prices; `rows`: those of the table that memory is fitted to, by default all."""
    timed = _timed(table, base, name)
    rows = table.measured if rows is None else rows

    def worst(start_and_scratch: tuple[float, float]) -> float:
        progress(f"fitting memory, a share of {start_and_scratch[0]:.2f} at the start")
        errors = row_errors(rows, table.circuit, _with_memory(timed, *start_and_scratch))
        return sum(each["peak_rss_gib"] ** 2 for _, _, each in errors if "peak_rss_gib" in each)

    coarse = min(product(STARTS[::3], SCRATCHES[::4]), key=worst)
    near = [
        (start, scratch)
        for start, scratch in product(STARTS, SCRATCHES)
        if abs(start - coarse[0]) <= 0.1 and abs(scratch - coarse[1]) <= 0.3
    ]
    return _with_memory(timed, *min(near, key=worst))


def leave_one_out(
    table: PublishedTable, base: MachineProfile, progress: Callable[[str], None] = lambda _: None
) -> list[tuple[PublishedRow, dict[str, float]]]:
    """Each row's errors under a profile that was fitted without it."""
    found = []
    for row in table.measured:
        others = [other for other in table.measured if other is not row]
        profile = calibrate_published(table, base, "without one", others, progress)
        ((_, _, errors),) = row_errors([row], table.circuit, profile)
        found.append((row, errors))
    return found


def _timed(table: PublishedTable, base: MachineProfile, name: str) -> MachineProfile:
    seconds, constraints = table.stage_seconds, table.circuit.constraints
    kernels_s, busy_kernels_s = seconds.partition_cuda_kernels
    alone_s, beside_s = seconds.partition_synthesis_alone, seconds.partition_synthesis_with_10_running
    prove_s = kernels_s + seconds.partition_epilogue
    load_s = (seconds.srs_load_cold[0] * seconds.srs_load_cold[1]) ** 0.5
    idle_gib = table.single_proof_phase2.idle_rss_gib if table.single_proof_phase2 else table.circuit.srs_gib
    return base.model_copy(
        update={
            "name": name,
            "about": "learned from a table of published figures",
            "synthesis_slowdown": round((beside_s / alone_s - 1) / (SYNTHESIZING - 1), 5),
            "host_before_share": 0.0,
            "host_after_share": round(seconds.partition_epilogue / prove_s, 5),
            "device_slowdown": round((busy_kernels_s / kernels_s - 1) / SYNTHESIZING, 5),
            "cores": _cores(base),
            "measured_on": base.measured_on.model_copy(update={"device": "gpu"}),
            "prove_on_cpu": None,
            "prove_on_gpu": None,
            "circuits": {name: _of_device(times, base.device) for name, times in base.circuits.items()},
            "spread": round((busy_kernels_s - kernels_s) / (busy_kernels_s + kernels_s) / 3**0.5, 4),
            "load": LoadModel(
                bytes_per_s=round(table.circuit.srs_gib * GIB / load_s),
                mapped_bytes_per_s=round(table.circuit.pce_gib * GIB / seconds.pce_load_from_disk),
            ),
            "synthesize": StageModel(seconds_per_constraint=alone_s / constraints),
            "prove": StageModel(seconds_per_constraint=prove_s / constraints),
            "verify": StageModel(seconds=VERIFY_S),
            "memory": MemoryModel(base=round((idle_gib - table.circuit.srs_gib) * GIB)),
        }
    )


def _cores(base: MachineProfile) -> Cores | None:
    """Of how many cores a synthesis keeps busy the table tells nothing."""
    count = base.cores.count if base.cores else base.hosts[0].cores if base.hosts else None
    return None if count is None else Cores(count=count, synthesis_cores=min(SYNTHESIS_CORES, count))


def _of_device(times: ObservedTimes, device: DeviceKind | None) -> ObservedTimes:
    return times if times.device else times.model_copy(update={"device": device})


def _with_memory(profile: MachineProfile, at_start: float, scratch: float) -> MachineProfile:
    memory = profile.memory.model_copy(update={"at_start_share": at_start, "prove_scratch_share": scratch})
    return profile.model_copy(update={"memory": memory})
