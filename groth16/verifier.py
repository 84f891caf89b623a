"""The verifier: the pairing equation of Groth (2016), section 3.2.

e(A, B) = e(alpha, beta) · e(vk_x, gamma) · e(C, delta)  with  vk_x = IC_0 + Σ public_i · IC_i
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groth16.errors import InputError, VerificationFailed
from groth16.proof import Proof
from groth16.verification_key import VerificationKey
from kernels.cpu.curve import multiply_point, negate_point
from kernels.cpu.msm import msm
from kernels.cpu.pairing import pairing_product_is_one
from kernels.encoding import ints_to_limbs
from kernels.fields import Curve
from kernels.parallel import serial

Claim = tuple[Sequence[int], Proof]  # the public signals, and the proof that there is a witness for them
Point = NDArray[np.uint64]

REFUSAL = (
    "the proof does not verify: the pairing equation does not hold. Either proof, public signals and "
    "verification key do not belong together, or the witness does not satisfy the circuit"
)
_WEIGHT_BITS = 128


def verify(vk: VerificationKey, public: Sequence[int], proof: Proof) -> None:
    """Return if the proof shows a witness with these public signals, else raise.

    InputError: the proof is of another curve, or a signal is missing, superfluous or not below the modulus
    (a signal plus the modulus would pass the equation). VerificationFailed: the equation does not hold.
    The points of key and proof must be on their curves and in their subgroups, as their readers ensure.
    """
    if find_invalid(vk, [(public, proof)]):
        raise VerificationFailed(REFUSAL)


def find_invalid(vk: VerificationKey, claims: Sequence[Claim]) -> list[int]:
    """Which claims' proofs do not verify, as indices; InputError as for `verify`.

    All are first checked at once: each equation to the power of a random weight, multiplied up, takes one
    Miller loop for each proof and three more, and one final exponentiation. A false one passes with a chance
    of 2^-128, as the points are of prime order (Bellare, Garay, Rabin, "Fast batch verification for modular
    exponentiation and digital signatures", 1998; for Groth16: Zcash protocol specification, appendix B.2).
    Only if that fails, each is checked alone.
    """
    for public, proof in claims:
        check_curve(vk, proof)
        check_signals(vk, public)
    if len(claims) > 1 and _hold(vk, claims, [1 + secrets.randbits(_WEIGHT_BITS) for _ in claims]):
        return []
    return [index for index, claim in enumerate(claims) if not _hold(vk, [claim], [1])]


def _hold(vk: VerificationKey, claims: Sequence[Claim], weights: Sequence[int]) -> bool:
    """Whether the product of the claims' equations, each to the power of its weight, holds."""
    g1 = vk.curve.g1
    weighted = list(zip(weights, claims, strict=True))
    total = sum(weights)
    signals = [sum(weight * public[i] for weight, (public, _) in weighted) for i in range(len(vk.ic) - 1)]
    p = [multiply_point(g1, negate_point(g1, proof.a), weight) for weight, (_, proof) in weighted]
    p.append(multiply_point(g1, vk.alpha_g1, total))
    p.append(_sum(vk.curve, vk.ic, [total, *signals]))
    p.append(_sum(vk.curve, np.stack([proof.c for _, proof in claims]), weights))
    q = [proof.b for _, proof in claims] + [vk.beta_g2, vk.gamma_g2, vk.delta_g2]
    return pairing_product_is_one(vk.curve, np.stack(p), np.stack(q))


def _sum(curve: Curve, points: Point, scalars: Sequence[int]) -> Point:
    """Σ scalars[i]·points[i] in G1."""
    reduced = ints_to_limbs([scalar % curve.fr.modulus for scalar in scalars], 4)
    return msm(curve.g1, points, reduced, serial)


def check_curve(vk: VerificationKey, proof: Proof) -> None:
    """Refuse, with InputError, a proof on another curve than the key."""
    if proof.curve is not vk.curve:
        raise InputError(
            f"the proof is on {proof.curve.name}, the verification key on {vk.curve.name}: they must match"
        )


def check_signals(vk: VerificationKey, public: Sequence[int]) -> None:
    """Refuse, with InputError, signals that must not reach the equation."""
    n_public, modulus = len(vk.ic) - 1, vk.curve.fr.modulus
    if len(public) != n_public:
        raise InputError(f"{len(public)} public signals given, the verification key expects {n_public}")
    for index, signal in enumerate(public):
        if not 0 <= signal < modulus:
            raise InputError(
                f"public signal {index} is {signal}, expected at least 0 and below the modulus {modulus}: "
                "give it reduced"
            )
