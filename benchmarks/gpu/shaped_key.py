"""A key for a shaped circuit, made on a device and kept there: at 2^27 its matrices would take 30 GB more."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.circuits.shaped import Shape
from benchmarks.gpu.shaped_rows import constants, key_scalars
from groth16.cuda.key import DeviceKey
from groth16.cuda.points import DevicePoints
from groth16.key_scalars import Toxic
from groth16.verification_key import VerificationKey
from kernels.cuda.fixed_base import FixedBase
from kernels.cuda.lagrange import lagrange_basis, odd_basis
from kernels.cuda.memory import Workspace
from kernels.cuda.ntt import Domain
from kernels.cuda.transfer import Uploader, new_array
from kernels.encoding import Limbs, ints_to_limbs, limbs_to_ints
from kernels.fields import Curve
from kernels.parallel import serial


@dataclass(frozen=True)
class ShapedKey:
    """The long arrays on the device, and the key's other points by the names of `zkey.KeyPoints`.

    `ic` lacks the circuit's constants; ic_scalars: its logarithms; basis: the Lagrange basis at tau, on the
    device.
    """

    device_key: DeviceKey
    points: dict[str, Limbs]
    ic_scalars: list[int]
    basis: Any

    @property
    def head(self) -> Any:
        """What `groth16.prover.assemble` reads of a key."""
        return SimpleNamespace(header=SimpleNamespace(curve=self.device_key.curve), **self.points)

    def verification_key(self, shape: Shape, values: Any, a: Any, b: Any, scratch: Any) -> VerificationKey:
        """Of the circuit that a witness is for; the arrays are as `shaped_rows.constants` takes them."""
        curve = self.device_key.curve
        constant = constants(curve.fr, shape, values, a, b, self.basis, scratch)
        ic = self.points["ic"].copy()
        first = [(self.ic_scalars[0] + constant) % curve.fr.modulus]
        ic[:1] = multiples(FixedBase(curve.g1, Workspace(), 1), first)
        head = {name: self.points[name] for name in ("alpha_g1", "beta_g2", "gamma_g2", "delta_g2")}
        return VerificationKey(curve, ic=ic, **head)


def make_key(curve: Curve, shape: Shape, domain: Domain, toxic: Toxic, workspace: Workspace) -> ShapedKey:
    """By the formulas of `groth16.key_scalars`; at 2^27 it takes 20 GB more than the key while it runs.

    Of the shape the share of significant values does not matter.
    """
    g1, g2 = FixedBase(curve.g1, workspace), FixedBase(curve.g2, workspace)
    fr, n_ic = curve.fr, shape.n_public + 1
    per_delta = pow(toxic.delta, -1, fr.modulus)
    h = _points(g1, odd_basis(domain, toxic.tau, per_delta))
    basis = lagrange_basis(domain, toxic.tau, 1)
    a, b, k = (new_array((shape.n_wires, 4), np.uint64) for _ in range(3))
    weights = [weight * per_delta % fr.modulus for weight in (toxic.beta, toxic.alpha, 1)]
    key_scalars(fr, shape, basis, _to_device(weights), a, b, k)
    ic_scalars = [each * toxic.delta % fr.modulus for each in limbs_to_ints(k[:n_ic].copy_to_host())]
    b, b_wires = b[1 : 1 + shape.n_b_wires], np.arange(1, 1 + shape.n_b_wires, dtype=np.uint32)
    key = DeviceKey(
        curve=curve,
        n_public=shape.n_public,
        a=DevicePoints(_points(g1, a), None),
        b_g1=DevicePoints(_points(g1, b), Uploader().to_device(b_wires, serial)),
        b_g2=DevicePoints(_points(g2, b), Uploader().to_device(b_wires, serial)),
        c=DevicePoints(_points(g1, k[n_ic:]), None),
        h=DevicePoints(h, None),
        a_rows=None,
        b_rows=None,
        domain=domain,
    )
    return ShapedKey(key, {"ic": multiples(g1, ic_scalars), **_head(g1, g2, toxic)}, ic_scalars, basis)


def _head(g1: FixedBase, g2: FixedBase, toxic: Toxic) -> dict[str, Limbs]:
    of_g1 = multiples(g1, [toxic.alpha, toxic.beta, toxic.delta])
    of_g2 = multiples(g2, [toxic.beta, 1, toxic.delta])
    names = "alpha_g1", "beta_g1", "delta_g1", "beta_g2", "gamma_g2", "delta_g2"
    return dict(zip(names, [*of_g1, *of_g2], strict=True))


def _points(base: FixedBase, scalars: Any) -> Any:
    out = new_array((len(scalars), *base.group.point_shape), np.uint64)
    base.multiply(scalars, out)
    return out


def multiples(base: FixedBase, scalars: list[int]) -> Limbs:
    """A few, in host memory."""
    points: Limbs = _points(base, _to_device(scalars)).copy_to_host()
    return points


def _to_device(scalars: list[int]) -> Any:
    return Uploader().to_device(ints_to_limbs(scalars, 4), serial)
