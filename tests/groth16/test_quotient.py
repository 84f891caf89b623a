from random import Random

import numpy as np
import pytest

from groth16.quotient import quotient
from groth16.synthesis import Evaluations
from kernels.cpu.ntt import domain_of
from kernels.encoding import ints_to_limbs, limbs_to_ints
from kernels.fields import CURVES
from kernels.parallel import serial
from tests.groth16 import oracle


def values_on_odd_coset(values: list[int], modulus: int) -> list[int]:
    """Interpolate on the domain and evaluate on the odd powers of the double domain's root, by Lagrange."""
    size = len(values)
    root = oracle.primitive_root(2 * size, modulus)
    powers = [pow(root, i, modulus) for i in range(2 * size)]
    bases = [oracle.lagrange(powers[0::2], x, modulus) for x in powers[1::2]]
    return [sum(x * y for x, y in zip(basis, values, strict=True)) % modulus for basis in bases]


@pytest.mark.parametrize("curve", sorted(CURVES))
@pytest.mark.parametrize("domain_size", [2, 4, 16])
def test_values_of_a_b_minus_c_on_the_odd_coset(curve: str, domain_size: int) -> None:
    fr, draw = CURVES[curve].fr, Random(domain_size)
    special = [0, 1, fr.modulus - 1, fr.modulus - 2]
    a, b = ((special + [draw.randrange(fr.modulus) for _ in range(16)])[-domain_size:] for _ in range(2))
    c = [x * y % fr.modulus for x, y in zip(a, b, strict=True)]
    over_r = pow(2**256, -1, fr.modulus)
    arrays = [ints_to_limbs(values, 4) for values in (a, b, [x * over_r % fr.modulus for x in c])]
    evaluations = Evaluations(*arrays)
    scalars = quotient(domain_of(fr, domain_size.bit_length() - 1), evaluations, serial)

    a, b, c = (values_on_odd_coset(values, fr.modulus) for values in (a, b, c))
    assert limbs_to_ints(scalars) == [(x * y - z) % fr.modulus for x, y, z in zip(a, b, c, strict=True)]
    assert np.shares_memory(scalars, arrays[0]), "the result must reuse memory"
    assert not hasattr(evaluations, "b"), "b and c must not be kept alive"
