"""How each of a circuit's cache entries is read into memory. Importing it loads the compiler."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.catalog import CircuitSpec
from engine.key_cache import KeyCache
from groth16 import sizes
from groth16.matrices import Matrices
from groth16.verification_key import VerificationKey, verification_key_of
from groth16.zkey import ProvingKey, read_header, read_proving_key
from kernels.cpu.ntt import Domain, domain_of
from kernels.parallel import Run

PAGE_BYTES = 4096
PAGES_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class LoadedKey:
    """The SRS as it is cached. The verification key is a copy and may outlive the mapping."""

    proving_key: ProvingKey
    verification_key: VerificationKey


@dataclass(frozen=True)
class LoadedMatrices:
    """The PCE as it is cached: the matrices, and the domain with its table of roots."""

    matrices: Matrices
    domain: Domain
    size_bytes: int


def load_srs(spec: CircuitSpec, run: Run, first: bool) -> LoadedKey:
    """Map the key's points and read them once; check them if it is the `first` time. Raises InputError.

    A table of multiples is mapped, or made, in the place of the H points.
    """
    key, cache = read_proving_key(spec.zkey), KeyCache(spec.derived)
    if first:
        cache.check_points(key, run)
    if spec.table:
        key = replace(key, h_table=cache.table(key, run))
    for points in (key.ic, key.a, key.b_g1, key.b_g2, key.c, *([] if spec.table else [key.h])):
        touch(points, run)
    return LoadedKey(key, verification_key_of(key))


def load_pce(spec: CircuitSpec, run: Run) -> LoadedMatrices:
    """Map or read the key's matrices, and make or share the roots. Raises InputError."""
    header = read_header(spec.zkey)
    matrices = KeyCache(spec.derived).matrices(header, run)
    domain = domain_of(header.curve.fr, header.domain_size.bit_length() - 1)
    return LoadedMatrices(matrices, domain, matrices.size_bytes + sizes.roots_bytes(header))


def touch(array: NDArray[np.uint64], run: Run) -> None:
    """Read one word of each page, so that reading the file is part of the load and not of the first proof."""
    words = array.reshape(-1)[:: PAGE_BYTES // array.itemsize]
    run(np.max, [(words[start : start + PAGES_AT_ONCE],) for start in range(0, len(words), PAGES_AT_ONCE)])
