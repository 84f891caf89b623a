"""Which field lanes hold, and how: eight elements side by side in 52-bit limbs, as a token for kernels."""

from dataclasses import dataclass

from kernels.cpu.ifma import LIMB_BITS
from kernels.fields import Field, QuadraticField

SPARE_BITS = 5  # R ≥ 2^5·p
LEAST_TOP_BITS = 16  # of the modulus's highest limb: what the precision of `lane_reductions.reduce` rests on


@dataclass(frozen=True)
class LaneField:
    """A field whose elements are worked on eight at a time; a token for kernels like the field itself.

    emulated: with plain LLVM code in place of the IFMA instructions.
    Raises ValueError for a field that `supports` refuses.
    """

    field: Field | QuadraticField
    emulated: bool

    def __post_init__(self) -> None:
        if not supports(self.field):
            raise ValueError(
                f"{self.field.name} has no lanes: its modulus fills too little of its highest limb"
            )

    @property
    def prime(self) -> Field:
        return self.field if isinstance(self.field, Field) else self.field.base

    @property
    def base(self) -> "LaneField":
        """Of a quadratic field: its prime field."""
        return LaneField(self.prime, self.emulated)

    @property
    def limbs(self) -> int:
        """52-bit limbs of an element of the prime field."""
        return _limbs(self.prime)

    @property
    def vectors(self) -> int:
        """Vectors of an element: `limbs`, or twice as many for a pair."""
        return self.limbs if isinstance(self.field, Field) else 2 * self.limbs

    @property
    def words(self) -> int:
        """64-bit words of one element in an array of rows."""
        return self.prime.limbs * self.vectors // self.limbs

    @property
    def name(self) -> str:
        return f"{'emulated' if self.emulated else 'ifma'}.{self.field.name}"

    @property
    def shift(self) -> int:
        """2^shift = R / 2^(64·L): between the two Montgomery forms."""
        return LIMB_BITS * self.limbs - 64 * self.prime.limbs

    @property
    def montgomery_one(self) -> int:
        """R mod p."""
        return (1 << LIMB_BITS * self.limbs) % self.prime.modulus


def supports(field: Field | QuadraticField) -> bool:
    prime = field if isinstance(field, Field) else field.base
    return prime.bits >= LIMB_BITS * (_limbs(prime) - 1) + LEAST_TOP_BITS


def _limbs(field: Field) -> int:
    return max(-(-(field.bits + SPARE_BITS) // LIMB_BITS), -(-64 * field.limbs // LIMB_BITS))
