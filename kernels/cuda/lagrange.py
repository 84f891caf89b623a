"""Powers of a number, and the Lagrange basis of a domain at a point, on a device: a setup's scalars."""

from typing import Any

import numpy as np
from numba import cuda

from kernels.cuda import vectors
from kernels.cuda.ntt import Domain
from kernels.encoding import to_montgomery_limbs
from kernels.fields import Field


def powers(F: Field, log2_size: int, first: int, ratio: int) -> Any:
    """first·ratio^i for i below 2^log2_size: device, (n, L) Montgomery; a half makes the next."""
    out = cuda.device_array((1 << log2_size, F.limbs), np.uint64)
    out[:1].copy_to_device(to_montgomery_limbs(F, [first]))
    for k in range(log2_size):
        factor = cuda.to_device(to_montgomery_limbs(F, [pow(ratio, 1 << k, F.modulus)]))
        vectors.scale(F, out[1 << k : 2 << k], out[: 1 << k], factor)
    return out


def lagrange_basis(domain: Domain, tau: int, scale: int) -> Any:
    """scale·L_i(tau) for the domain <w_n>: device, (size, L) Montgomery.

    L_i(tau) = 1/n · Σ_j tau^j · w_n^(−ij), an inverse NTT of tau's powers, without a division by tau − w_n^i.
    """
    values = powers(domain.field, domain.log2_size, scale, tau)
    domain.inverse(values)
    return values


def odd_basis(domain: Domain, tau: int, scale: int) -> Any:
    """scale times the odd half of the Lagrange basis of <w_2n> at tau: device, (size, L) canonical.

    By the formula of `groth16.key_scalars.odd_basis`.
    """
    F = domain.field
    root = F.root_of_order(domain.log2_size + 1)
    factor = scale * (1 - pow(tau, domain.size, F.modulus)) * pow(2, -1, F.modulus) % F.modulus
    values = lagrange_basis(domain, tau * pow(root, -1, F.modulus) % F.modulus, factor)
    vectors.from_montgomery(F, values, values)
    return values
