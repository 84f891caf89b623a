"""The fields and curves that Groth16 is proved over, as plain numbers.

One description drives every backend: kernels take a `Field`, `QuadraticField` or `Group` as their first
argument and are compiled once for each. Nothing here imports numba, so a description is cheap to use.

Parameters: BN254 as in EIP-196 and EIP-197 (snarkjs calls it bn128), BLS12-381 as in the IRTF draft
"BLS Signatures" and https://electriccoin.co/blog/new-snark-curve/.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import count

Fq2Int = tuple[int, int]
"""c0 + c1·u as Python integers."""


@dataclass(frozen=True)
class Field:
    """A prime field whose elements are stored in `limbs` 64-bit words, Montgomery form with R = 2^(64·limbs).

    The top bit of the highest word must be free: sums of two elements then never overflow, and the
    Montgomery product needs no carry word (https://hackmd.io/@gnark/modular_multiplication).
    """

    name: str
    modulus: int
    limbs: int

    def __post_init__(self) -> None:
        if self.modulus % 2 == 0 or self.modulus.bit_length() >= 64 * self.limbs:
            raise ValueError(f"{self.name}: the modulus must be odd and below 2^{64 * self.limbs - 1}")

    @property
    def bits(self) -> int:
        return self.modulus.bit_length()

    @property
    def element_bytes(self) -> int:
        return 8 * self.limbs

    @property
    def montgomery_one(self) -> int:
        """R mod p: the Montgomery form of 1."""
        return (1 << 64 * self.limbs) % self.modulus

    @property
    def montgomery_r2(self) -> int:
        """R² mod p: a Montgomery product with it turns a canonical number into Montgomery form."""
        return (1 << 128 * self.limbs) % self.modulus

    @cached_property
    def two_adicity(self) -> int:
        """The largest s with 2^s dividing p − 1; NTT domains have at most 2^s elements."""
        below = self.modulus - 1
        return (below & -below).bit_length() - 1

    @cached_property
    def non_residue(self) -> int:
        """The least quadratic non-residue: snarkjs derives its roots of unity from it, and so must we."""
        half = (self.modulus - 1) // 2
        return next(n for n in count(2) if pow(n, half, self.modulus) == self.modulus - 1)

    @cached_property
    def root_of_unity(self) -> int:
        """The primitive 2^two_adicity-th root of unity of snarkjs (ffjavascript), a canonical integer."""
        return pow(self.non_residue, (self.modulus - 1) >> self.two_adicity, self.modulus)

    def root_of_order(self, log2_size: int) -> int:
        """The primitive 2^log2_size-th root of unity; the square of the one of twice the order.

        Raises ValueError for an order that the field does not have.
        """
        if not 0 <= log2_size <= self.two_adicity:
            raise ValueError(
                f"{self.name} has no root of unity of order 2^{log2_size}; at most 2^{self.two_adicity}"
            )
        return pow(self.root_of_unity, 1 << (self.two_adicity - log2_size), self.modulus)


@dataclass(frozen=True)
class QuadraticField:
    """base[u]/(u² + 1); an element is c0 + c1·u, stored as c0 then c1."""

    name: str
    base: Field


@dataclass(frozen=True)
class Group:
    """The subgroup of prime `order` of y² = x³ + b over `field`, b and generator as canonical integers.

    The curve has cofactor·order points. Over a `QuadraticField` every coordinate is a pair (c0, c1).
    """

    name: str
    field: Field | QuadraticField
    b: int | Fq2Int
    generator: tuple[int, int] | tuple[Fq2Int, Fq2Int]
    order: int
    cofactor: int

    @property
    def point_shape(self) -> tuple[int, ...]:
        """Shape of one affine point: (2, L) over a prime field, (2, 2, L) over its extension."""
        if isinstance(self.field, Field):
            return (2, self.field.limbs)
        return (2, 2, self.field.base.limbs)

    @property
    def point_bytes(self) -> int:
        field = self.field
        return 2 * field.element_bytes if isinstance(field, Field) else 4 * field.base.element_bytes


@dataclass(frozen=True)
class Curve:
    """A pairing-friendly curve with embedding degree 12 and its pairing's parameters.

    The tower is Fq2 = Fq[u]/(u² + 1), Fq6 = Fq2[v]/(v³ − ξ), Fq12 = Fq6[w]/(w² − v) with
    ξ = `fq6_non_residue`. The sextic twist is y² = x³ + b/ξ (type D) or y² = x³ + b·ξ (type M).
    """

    name: str
    snarkjs_name: str
    fq: Field
    fq2: QuadraticField
    fr: Field
    g1: Group
    g2: Group
    x: int  # the parameter that generates the family's primes
    ate_loop: int  # Miller loop length: 6x + 2 for BN curves, x (negative here) for BLS curves
    fq6_non_residue: Fq2Int
    twist: str  # "D" or "M"


def _bn254() -> Curve:
    x = 4965661367192848881
    q = 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1
    r = 36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1
    fq, fr = Field("BN254.Fq", q, 4), Field("BN254.Fr", r, 4)
    fq2 = QuadraticField("BN254.Fq2", fq)
    g1 = Group("BN254.G1", fq, 3, (1, 2), r, cofactor=1)
    g2_b = (
        19485874751759354771024239261021720505790618469301721065564631296452457478373,
        266929791119991161246907387137283842545076965332900288569378510910307636690,
    )
    g2_generator = (
        (
            10857046999023057135944570762232829481370756359578518086990519993285655852781,
            11559732032986387107991004021392285783925812861821192530917403151452391805634,
        ),
        (
            8495653923123431417604973247489272438418190587263600148770280649306958101930,
            4082367875863433681332203403145435568316851327593401208105741076214120093531,
        ),
    )
    g2 = Group("BN254.G2", fq2, g2_b, g2_generator, r, cofactor=2 * q - r)
    return Curve("bn254", "bn128", fq, fq2, fr, g1, g2, x, 6 * x + 2, (9, 1), "D")


def _bls12_381() -> Curve:
    x = -0xD201000000010000
    r = x**4 - x**2 + 1
    q = (x - 1) ** 2 * r // 3 + x
    fq, fr = Field("BLS12-381.Fq", q, 6), Field("BLS12-381.Fr", r, 4)
    fq2 = QuadraticField("BLS12-381.Fq2", fq)
    g1_generator = (
        0x17F1D3A73197D7942695638C4FA9AC0FC3688C4F9774B905A14E3A3F171BAC586C55E83FF97A1AEFFB3AF00ADB22C6BB,
        0x08B3F481E3AAA0F1A09E30ED741D8AE4FCF5E095D5D00AF600DB18CB2C04B3EDD03CC744A2888AE40CAA232946C5E7E1,
    )
    g1 = Group("BLS12-381.G1", fq, 4, g1_generator, r, cofactor=(x - 1) ** 2 // 3)
    g2_generator = (
        (
            0x024AA2B2F08F0A91260805272DC51051C6E47AD4FA403B02B4510B647AE3D1770BAC0326A805BBEFD48056C8C121BDB8,
            0x13E02B6052719F607DACD3A088274F65596BD0D09920B61AB5DA61BBDC7F5049334CF11213945D57E5AC7D055D042B7E,
        ),
        (
            0x0CE5D527727D6E118CC9CDC6DA2E351AADFD9BAA8CBDD3A76D429A695160D12C923AC9CC3BACA289E193548608B82801,
            0x0606C4A02EA734CC32ACD2B02BC28B99CB3E287E85A763AF267492AB572E99AB3F370D275CEC1DA1AAA9075FF05F79BE,
        ),
    )
    cofactor = (x**8 - 4 * x**7 + 5 * x**6 - 4 * x**4 + 6 * x**3 - 4 * x**2 - 4 * x + 13) // 9
    g2 = Group("BLS12-381.G2", fq2, (4, 4), g2_generator, r, cofactor)
    return Curve("bls12381", "bls12381", fq, fq2, fr, g1, g2, x, x, (1, 1), "M")


BN254 = _bn254()
BLS12_381 = _bls12_381()
CURVES: dict[str, Curve] = {curve.name: curve for curve in (BN254, BLS12_381)}


def curve_of_scalar_modulus(modulus: int) -> Curve | None:
    """The curve whose scalar field has this modulus; files name their curve only so."""
    return next((curve for curve in CURVES.values() if curve.fr.modulus == modulus), None)
