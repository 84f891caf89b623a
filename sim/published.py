"""Figures that others have published of their machine, as a table that a profile is learned from.

The table is a JSON file as sim/data/published_cuzk.json, or for rows alone a CSV file. `partition_workers`
partitions synthesize at a time. Those that wait for a GPU keep their memory. They wait in a channel with room
for as many again, and a worker that finds it full waits with what it has synthesized (the Curio project,
extern/cuzk/cuzk-core/src/engine.rs).
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from config.files import read_text
from policy import Circuit, Device, Entry, Job, Limits
from sim.errors import SimError
from sim.predict import Figures, first_synthesis_s, simulate_requests
from sim.profile import MachineProfile
from sim.requests import Requests
from sim.toml_files import validated

BUNDLED = Path(__file__).parent / "data" / "published_cuzk.json"
CIRCUIT = "porep-32g"
GIB = 2**30
SEEDS = 5
ENOUGH = 10_000_000  # GiB: the published prover has no budget

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Range = Annotated[tuple[Positive, ...], Field(min_length=2, max_length=2)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")  # a table tells more than a profile needs


class PublishedCircuit(_Table):
    """Sizes of a circuit."""

    constraints: Annotated[int, Field(ge=1)]
    partitions: Count = 1
    srs_gib: Positive
    pce_gib: Positive
    partition_full_gib: Positive
    partition_abc_gib: Positive

    def named(self, name: str) -> Circuit:
        """The circuit of these sizes."""
        entries = (Entry(f"{name} SRS", _bytes(self.srs_gib)), Entry(f"{name} PCE", _bytes(self.pce_gib)))
        phase2_gib = self.partition_full_gib - self.partition_abc_gib
        return Circuit(name, entries, _bytes(self.partition_abc_gib), _bytes(phase2_gib))


class StageSeconds(_Table):
    """Of a partition, where there is a range from an idle machine to one on which ten synthesize."""

    srs_load_cold: Range
    pce_load_from_disk: Positive
    partition_synthesis_alone: Positive
    partition_synthesis_with_10_running: Positive
    partition_cuda_kernels: Range
    partition_b_g2_msm_outside_gpu_lock: Range
    partition_epilogue: Positive


class PublishedRow(_Table):
    """A run that was measured: proofs of CIRCUIT, `concurrency` at a time."""

    proofs: Count
    concurrency: Count
    partition_workers: Count
    gpu_workers: Count
    seconds_per_proof: Positive
    peak_rss_gib: Positive | None = None


class IdleMemory(_Table):
    """What a process holds that has loaded an SRS and proves nothing."""

    idle_rss_gib: Positive


class PublishedTable(_Table):
    """The whole file."""

    circuits: dict[str, PublishedCircuit]
    stage_seconds: StageSeconds
    measured: tuple[PublishedRow, ...]
    single_proof_phase2: IdleMemory | None = None

    @property
    def circuit(self) -> PublishedCircuit:
        """The one that was measured."""
        if CIRCUIT not in self.circuits:
            raise SimError(f"the table has no circuit {CIRCUIT}, which its rows are of; add its sizes")
        return self.circuits[CIRCUIT]


class _Rows(BaseModel):
    rows: tuple[PublishedRow, ...]


def _bytes(gib: float) -> int:
    return int(gib * GIB)


def read_published(path: Path = BUNDLED) -> PublishedTable:
    """Raises SimError for a file that cannot be used."""
    return validated(PublishedTable, _json(path), str(path), str(BUNDLED))


def read_rows(path: Path) -> tuple[PublishedRow, ...]:
    """The measured rows of a JSON table, or of a CSV file whose header has their names. Raises SimError."""
    if path.suffix != ".csv":
        rows = _json(path).get("measured", [])
    else:
        try:
            rows = list(csv.DictReader(read_text(path).splitlines()))
        except OSError as error:
            raise SimError(f"{path}: cannot be read: {error.strerror}; check the path") from error
        rows = [{name: value for name, value in row.items() if value != ""} for row in rows]
    return validated(_Rows, {"rows": rows}, str(path), str(BUNDLED)).rows


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_text(path))
    except OSError as error:
        raise SimError(f"{path}: cannot be read: {error.strerror}; write it as in {BUNDLED}") from error
    except ValueError as error:
        raise SimError(f"{path}: not JSON: {error}; write it as in {BUNDLED}") from error
    if not isinstance(found, dict):
        raise SimError(f"{path}: found a {type(found).__name__}, expected an object as in {BUNDLED}")
    return found


def predict_row(row: PublishedRow, circuit: PublishedCircuit, profile: MachineProfile) -> Figures:
    """Seconds a proof and peak resident GiB, as means of some seeds. SRS and PCE are in memory before."""
    shape = circuit.named(CIRCUIT)
    jobs = [Job(f"proof {number}", shape, circuit.partitions) for number in range(row.proofs)]
    workers, device = row.partition_workers, Device("gpu0", row.gpu_workers, ENOUGH * GIB)
    limits = Limits(
        ENOUGH * GIB, workers, (device,), workers + 1
    )  # none starts once more than `workers` wait
    requests = Requests(tuple(jobs), row.concurrency, (0.0,) * row.proofs)
    seconds, peak_bytes = 0.0, 0.0
    for seed in range(SEEDS):
        run = simulate_requests(
            requests, limits, profile, seed=seed, constraints={CIRCUIT: circuit.constraints}
        )
        log = run.log.entries
        seconds += (log[-1].at_s - first_synthesis_s(log)) / SEEDS
        peak_bytes += run.peak_rss_bytes / SEEDS
    return {"seconds_per_proof": seconds / row.proofs, "peak_rss_gib": peak_bytes / GIB}


def row_errors(
    rows: Sequence[PublishedRow], circuit: PublishedCircuit, profile: MachineProfile
) -> list[tuple[PublishedRow, Figures, Figures]]:
    """Each row with what is predicted of it and the signed relative errors."""
    found = []
    for row in rows:
        predicted = predict_row(row, circuit, profile)
        errors = {"seconds_per_proof": predicted["seconds_per_proof"] / row.seconds_per_proof - 1}
        if row.peak_rss_gib is not None:
            errors["peak_rss_gib"] = predicted["peak_rss_gib"] / row.peak_rss_gib - 1
        found.append((row, predicted, errors))
    return found
