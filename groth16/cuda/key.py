"""A proving key in a device's memory: SRS, matrices and roots, sent there once and used by many proofs."""

from __future__ import annotations

from dataclasses import dataclass

from groth16.cuda.matrices import DeviceMatrix, upload_matrix
from groth16.cuda.points import DevicePoints, upload_points
from groth16.matrices import Matrices
from groth16.zkey import ProvingKey
from kernels.cuda.ntt import Domain
from kernels.cuda.transfer import Uploader
from kernels.fields import Curve
from kernels.parallel import Run


@dataclass(frozen=True)
class DeviceKey:
    """Points as in `zkey.KeyPoints`, A and B by rows, and the domain with its table of roots.

    a_rows and b_rows: None where every partition brings its a and b.
    """

    curve: Curve
    n_public: int
    a: DevicePoints
    b_g1: DevicePoints
    b_g2: DevicePoints
    c: DevicePoints
    h: DevicePoints
    a_rows: DeviceMatrix | None
    b_rows: DeviceMatrix | None
    domain: Domain


def upload_key(key: ProvingKey, matrices: Matrices, uploader: Uploader, run: Run) -> DeviceKey:
    """Send a key to the device that is active; takes `device_sizes.key_bytes` there at most.

    Raises OutOfDeviceMemory, DeviceLost, Stopped, and ValueError for a domain of less than 8.
    """
    header = key.header
    return DeviceKey(
        curve=header.curve,
        n_public=header.n_public,
        domain=Domain(header.curve.fr, header.domain_size.bit_length() - 1),
        a=upload_points(key.a, uploader, run),
        b_g1=upload_points(key.b_g1, uploader, run),
        b_g2=upload_points(key.b_g2, uploader, run),
        c=upload_points(key.c, uploader, run),
        h=upload_points(key.h, uploader, run),
        a_rows=upload_matrix(matrices.a, uploader, run),
        b_rows=upload_matrix(matrices.b, uploader, run),
    )
