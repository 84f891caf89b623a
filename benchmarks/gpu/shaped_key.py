"""A key for a shaped circuit, made on a device and kept there: at 2^27 its matrices would take 30 GB more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda

from benchmarks.circuits.shaped import Shape
from benchmarks.gpu.shaped_rows import constants, key_scalars
from groth16.key_scalars import Toxic
from kernels.cuda.fixed_base import FixedBase
from kernels.cuda.lagrange import lagrange_basis, odd_basis
from kernels.cuda.memory import Workspace
from kernels.cuda.ntt import Domain
from kernels.encoding import Limbs, ints_to_limbs, limbs_to_ints
from kernels.fields import Curve


@dataclass(frozen=True)
class ShapedKey:
    """points: `zkey.KeyPoints`' arrays, the long ones on the device; `ic` lacks the circuit's constants.

    Of B there are those of wires 1 to n_b_wires only: all others are infinity. ic_scalars: logarithms of ic;
    basis: the Lagrange basis at tau, on the device.
    """

    curve: Curve
    shape: Shape
    domain: Domain
    points: dict[str, Any]
    ic_scalars: list[int]
    basis: Any
    workspace: Workspace

    def ic_for(self, values: Any, a: Any, b: Any, scratch: Any) -> Limbs:
        """IC of the circuit that a witness is for; arrays as `shaped_rows.constants` takes them."""
        fr = self.curve.fr
        constants(fr, self.shape, values, a, b, self.basis, scratch)
        (constant,) = limbs_to_ints(scratch[:1].copy_to_host())
        first = (self.ic_scalars[0] + constant) % fr.modulus
        ic: Limbs = self.points["ic"].copy()
        ic[:1] = multiples(FixedBase(self.curve.g1, self.workspace, 1), [first])
        return ic


def make_key(curve: Curve, shape: Shape, domain: Domain, toxic: Toxic, workspace: Workspace) -> ShapedKey:
    """By the formulas of `groth16.key_scalars`; at 2^27 it takes 20 GB more than the key while it runs."""
    g1, g2 = FixedBase(curve.g1, workspace), FixedBase(curve.g2, workspace)
    fr, n_ic = curve.fr, shape.n_public + 1
    per_delta = pow(toxic.delta, -1, fr.modulus)
    points = {"h": _points(g1, odd_basis(domain, toxic.tau, per_delta))}
    basis = lagrange_basis(domain, toxic.tau, 1)
    a, b, k = (cuda.device_array((shape.n_wires, 4), np.uint64) for _ in range(3))
    weights = [weight * per_delta % fr.modulus for weight in (toxic.beta, toxic.alpha, 1)]
    key_scalars(fr, shape, basis, cuda.to_device(ints_to_limbs(weights, 4)), a, b, k)
    ic_scalars = [each * toxic.delta % fr.modulus for each in limbs_to_ints(k[:n_ic].copy_to_host())]
    b = b[1 : 1 + shape.n_b_wires]
    points |= {
        "a": _points(g1, a),
        "b_g1": _points(g1, b),
        "b_g2": _points(g2, b),
        "c": _points(g1, k[n_ic:]),
    }
    points |= {"ic": multiples(g1, ic_scalars), **_head(g1, g2, toxic)}
    return ShapedKey(curve, shape, domain, points, ic_scalars, basis, workspace)


def _head(g1: FixedBase, g2: FixedBase, toxic: Toxic) -> dict[str, Limbs]:
    of_g1 = multiples(g1, [toxic.alpha, toxic.beta, toxic.delta])
    of_g2 = multiples(g2, [toxic.beta, 1, toxic.delta])
    names = "alpha_g1", "beta_g1", "delta_g1", "beta_g2", "gamma_g2", "delta_g2"
    return dict(zip(names, [*of_g1, *of_g2], strict=True))


def _points(base: FixedBase, scalars: Any) -> Any:
    out = cuda.device_array((len(scalars), *base.group.point_shape), np.uint64)
    base.multiply(scalars, out)
    return out


def multiples(base: FixedBase, scalars: list[int]) -> Limbs:
    """A few, in host memory."""
    points: Limbs = _points(base, cuda.to_device(ints_to_limbs(scalars, 4))).copy_to_host()
    return points
