"""A proving key in a device's memory: SRS, matrices and roots, sent there once and used by many proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groth16.cuda.matrices import DeviceMatrix, upload_matrix
from groth16.cuda.points import DevicePoints, HostPoints, no_points, upload_points
from groth16.matrices import Matrices
from groth16.zkey import Points, ProvingKey
from kernels.cuda.ntt import Domain
from kernels.cuda.transfer import Uploader
from kernels.fields import Curve
from kernels.parallel import Run

Section = DevicePoints | HostPoints


@dataclass(frozen=True)
class DeviceKey:
    """Points as in `zkey.KeyPoints`, A and B by rows, and the domain with its table of roots.

    The points lie in the device's memory, or those of a larger key in the host's. a_rows and b_rows: None
    where every partition brings its a and b.
    """

    curve: Curve
    n_public: int
    a: Section
    b_g1: Section
    b_g2: Section
    c: Section
    h: Section
    a_rows: DeviceMatrix | None
    b_rows: DeviceMatrix | None
    domain: Domain


def upload_key(
    key: ProvingKey, matrices: Matrices, uploader: Uploader, run: Run, streamed: bool = False
) -> DeviceKey:
    """Send a key to the device that is active; takes `device_sizes.key_bytes` there at most.

    streamed: the points stay in host memory, and pass through the device in every proof.
    Raises OutOfDeviceMemory, DeviceLost, Stopped, and ValueError for a domain of less than 8.
    """
    header, fetcher = key.header, Uploader() if streamed else uploader

    def section(points: Points) -> Section:
        return HostPoints(points, fetcher) if streamed else upload_points(points, uploader, run)

    return DeviceKey(
        curve=header.curve,
        n_public=header.n_public,
        domain=Domain(header.curve.fr, header.domain_size.bit_length() - 1),
        a=section(key.a),
        b_g1=section(key.b_g1),
        b_g2=section(key.b_g2),
        c=section(key.c),
        h=section(key.h),
        a_rows=upload_matrix(matrices.a, uploader, run),
        b_rows=upload_matrix(matrices.b, uploader, run),
    )


def with_points(key: DeviceKey, host: ProvingKey) -> DeviceKey:
    """The key with the points that `host` has now, of those that stay in host memory."""
    sections = key.a, key.b_g1, key.b_g2, key.c, key.h
    return _with_sections(key, sections, (host.a, host.b_g1, host.b_g2, host.c, host.h))


def without_points(key: DeviceKey) -> DeviceKey:
    """The key without its points in host memory: it can stay on the device when the host drops them."""
    sections = key.a, key.b_g1, key.b_g2, key.c, key.h
    none = [no_points(each.points) if isinstance(each, HostPoints) else None for each in sections]
    return _with_sections(key, sections, none)


def _with_sections(key: DeviceKey, sections: Sequence[Section], points: Sequence[Points | None]) -> DeviceKey:
    a, b_g1, b_g2, c, h = (
        replace(section, points=new) if isinstance(section, HostPoints) and new is not None else section
        for section, new in zip(sections, points, strict=True)
    )
    return replace(key, a=a, b_g1=b_g1, b_g2=b_g2, c=c, h=h)
