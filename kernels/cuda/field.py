"""Operations on single field elements, to be called from kernels.

F is a `Field` or a `QuadraticField` passed as a token (`kernels.cuda.tokens`). An element is in registers, in
Montgomery form and below the modulus, before and after.

    add, sub, mul(F, a, b)   square(F, a)   zero, one(F)   is_zero(F, a) -> bool
    product_difference(F, a, b, c, d): a·b − c·d, with one reduction in a prime field
    mul_often, square_often, product_difference_often: the same for loops that do little else; compiled
        without calls where that pays
    select(F, condition, a, b): a where the condition holds, else b, without a branch
    plain_one(F): the number 1, by which a product takes an element out of Montgomery form
    r_squared(F): R², by which a product takes a number into Montgomery form
    modulus(F), approximate, combine, combine_modulo: what `kernels.cuda.inversion` needs
    load(F, array, i), store(F, array, i, value): element i of a C-contiguous uint64 array of any shape, whose
        address is a multiple of 16 bytes. No bounds are checked.
    load_plane(F, array, i, n), store_plane(F, array, i, n, value): element i of n in shared memory that holds
        the first 16 bytes of all elements, then the next 16 of all, and so on, so that neighbours are
        neighbours in the memory's banks
"""

from numba import config

if config.ENABLE_CUDASIM:
    from kernels.cuda.simulated_field import (
        add,
        approximate,
        combine,
        combine_modulo,
        is_zero,
        load,
        load_plane,
        modulus,
        mul,
        mul_often,
        one,
        plain_one,
        product_difference,
        product_difference_often,
        r_squared,
        select,
        square,
        square_often,
        store,
        store_plane,
        sub,
        zero,
    )
else:
    from kernels.cuda.compiled_field import (
        add,
        approximate,
        combine,
        combine_modulo,
        is_zero,
        load,
        load_plane,
        modulus,
        mul,
        mul_often,
        one,
        plain_one,
        product_difference,
        product_difference_often,
        r_squared,
        select,
        square,
        square_often,
        store,
        store_plane,
        sub,
        zero,
    )

__all__ = [
    "add",
    "approximate",
    "combine",
    "combine_modulo",
    "is_zero",
    "load",
    "load_plane",
    "modulus",
    "mul",
    "mul_often",
    "one",
    "plain_one",
    "product_difference",
    "product_difference_often",
    "r_squared",
    "select",
    "square",
    "square_often",
    "store",
    "store_plane",
    "sub",
    "zero",
]
