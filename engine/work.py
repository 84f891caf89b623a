"""What one partition holds while it is worked on, and nowhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from engine.freeing import Watched
from groth16.proof import Proof
from groth16.synthesis import Evaluations, Scalars
from groth16.witness import Witness
from groth16.zkey import KeyHeader
from kernels.meter import Meter
from kernels.stop_flag import StopFlag


@dataclass(eq=False)
class Work:
    """One partition's arrays, by the stage that makes them; a stage that frees an array drops it here.

    Calls are given the Work and never its arrays, so that no call, thread or error keeps one alive.
    """

    header: KeyHeader
    stop: StopFlag = field(default_factory=StopFlag)
    witness: Witness | None = None
    evaluations: Evaluations | None = None  # a, b, c: phase 1
    scalars: Scalars | None = None  # the quotient's values: phase 2
    proof: Proof | None = None
    public: list[int] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)

    @property
    def measured_bytes(self) -> int:
        """The most that was held at once: arrays, and what making them took besides."""
        return self.meter.peak_bytes

    def measure(self) -> None:
        """Note what the arrays take now, if it is more than before."""
        with self.measuring():
            pass

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Inside the block, what is allocated by the way counts beside the arrays that there are now."""
        arrays_bytes = sum(array.nbytes for array in self._arrays())
        with self.meter.counting(), self.meter.holding_bytes(arrays_bytes):
            yield

    def release(self) -> Watched:
        """Drop all arrays, but not proof and public signals, which are small; returns how to see them go."""
        watched = Watched(*self._arrays())
        self.witness = self.evaluations = self.scalars = None
        return watched

    def check_stop(self) -> None:
        """Raise Stopped if the partition is to end."""
        self.stop.check()

    def _arrays(self) -> list[Scalars]:
        arrays = [] if self.witness is None else [self.witness.values]
        if self.evaluations is not None:
            arrays += [self.evaluations.a, self.evaluations.b, self.evaluations.c]
        return arrays if self.scalars is None else [*arrays, self.scalars]
