"""The verifier: the pairing equation of Groth (2016), section 3.2.

e(A, B) = e(alpha, beta) · e(vk_x, gamma) · e(C, delta)  with  vk_x = IC_0 + Σ public_i · IC_i
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groth16.errors import InputError, VerificationFailed
from groth16.proof import Proof
from groth16.verification_key import VerificationKey
from kernels.cpu.curve import add_points, negate_point
from kernels.cpu.msm import msm
from kernels.cpu.pairing import pairing_product_is_one
from kernels.encoding import ints_to_limbs
from kernels.parallel import serial


def verify(vk: VerificationKey, public: Sequence[int], proof: Proof) -> None:
    """Return if the proof shows a witness with these public signals, else raise.

    InputError: the proof is of another curve, or a signal is missing, superfluous or not below the modulus
    (a signal plus the modulus would pass the equation). VerificationFailed: the equation does not hold.
    The points of key and proof must be on their curves and in their subgroups, as their readers ensure.
    """
    check_signals(vk, public, proof)
    curve = vk.curve
    scalars = ints_to_limbs(public, 4)
    vk_x = add_points(curve.g1, vk.ic[0], msm(curve.g1, vk.ic[1:], scalars, serial))
    g1 = np.stack([negate_point(curve.g1, proof.a), vk.alpha_g1, vk_x, proof.c])
    g2 = np.stack([proof.b, vk.beta_g2, vk.gamma_g2, vk.delta_g2])
    if not pairing_product_is_one(curve, g1, g2):
        raise VerificationFailed(
            "the proof does not verify: the pairing equation does not hold. Either proof, public signals and "
            "verification key do not belong together, or the witness does not satisfy the circuit"
        )


def check_signals(vk: VerificationKey, public: Sequence[int], proof: Proof) -> None:
    """Refuse, with InputError, what must not reach the equation."""
    if proof.curve is not vk.curve:
        raise InputError(
            f"the proof is on {proof.curve.name}, the verification key on {vk.curve.name}: they must match"
        )
    n_public, modulus = len(vk.ic) - 1, vk.curve.fr.modulus
    if len(public) != n_public:
        raise InputError(f"{len(public)} public signals given, the verification key expects {n_public}")
    for index, signal in enumerate(public):
        if not 0 <= signal < modulus:
            raise InputError(
                f"public signal {index} is {signal}, expected at least 0 and below the modulus {modulus}: "
                "give it reduced"
            )
