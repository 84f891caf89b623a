"""A matrix of the key in a device's memory, and its product with a witness there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from groth16.matrices import Matrix
from kernels.cuda.spmv import long_rows, multiply_rows
from kernels.cuda.transfer import Uploader
from kernels.fields import Field
from kernels.parallel import Run


@dataclass(frozen=True)
class DeviceMatrix:
    """The arrays of a `Matrix`, and the numbers of the rows that are long."""

    units: tuple[Any, Any]
    others: tuple[Any, Any, Any]
    long_rows: Any


def upload_matrix(matrix: Matrix, uploader: Uploader, run: Run) -> DeviceMatrix:
    """Send a matrix to the device that is active."""
    unit_starts, unit_columns, *others = (uploader.to_device(array, run) for array in matrix.arrays)
    rows = long_rows(matrix.unit_starts, matrix.others.row_starts)
    return DeviceMatrix((unit_starts, unit_columns), tuple(others), uploader.to_device(rows, run))


def evaluate(field: Field, matrix: DeviceMatrix, values: Any, out: Any) -> None:
    """out = the matrix's rows times the witness's values, canonical both; a row for each element of out."""
    multiply_rows(field, out, matrix.units, matrix.others, values, matrix.long_rows)
