"""The files of one proof: written under temporary names, and renamed together once all of it is verified."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from config import home
from engine.errors import Rejected
from groth16.proof import Proof, proof_json, public_json, write_proof, write_public


@dataclass
class Outputs:
    """Where the partitions go: proof.json and public.json, numbered from 0 where there are several."""

    directory: Path
    partitions: int
    token: str  # tells the temporary names of different proofs apart
    _written: dict[Path, Path] = field(default_factory=dict)  # temporary name -> name

    def paths(self, index: int) -> tuple[Path, Path]:
        """The final names of a partition's proof and public signals."""
        suffix = "" if self.partitions == 1 else f"_{index}"
        return self.directory / f"proof{suffix}.json", self.directory / f"public{suffix}.json"

    @property
    def last(self) -> Path:
        """What gets its final name last: where it is, all are."""
        return self.paths(0)[0]

    def prepare(self) -> None:
        """Make the directory and see that it can be written; raises Rejected."""
        trial = self._temporary(self.directory / "writable")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            trial.touch()
            trial.unlink()
        except OSError as error:
            why = error.strerror or error
            raise Rejected(
                f"{self.directory}: cannot write proofs there ({why}); choose another folder"
            ) from error

    def write(self, index: int, proof: Proof, public: Sequence[int]) -> None:
        """Write one partition's files under temporary names. Raises OSError."""
        proof_path, public_path = self.paths(index)
        for path in (proof_path, public_path):
            self._written[self._temporary(path)] = path
        write_proof(self._temporary(proof_path), proof)
        write_public(self._temporary(public_path), public)

    def write_bytes(self, index: int, proof: bytes, public: bytes) -> None:
        """The same of files that were made elsewhere, as they are. Raises OSError."""
        for path, content in zip(self.paths(index), (proof, public), strict=True):
            self._written[self._temporary(path)] = path
            self._temporary(path).write_bytes(content)

    def publish(self) -> None:
        """Give everything written its final name; where that fails, nothing has one. Raises OSError."""
        published: list[Path] = []
        try:
            for temporary, path in sorted(self._written.items(), key=lambda names: names[1] == self.last):
                temporary.replace(path)
                del self._written[temporary]
                published.append(path)
        except OSError:
            for path in published:
                path.unlink()
            raise

    def discard(self) -> None:
        """Remove what was written and not published."""
        while self._written:
            temporary, _ = self._written.popitem()
            temporary.unlink(missing_ok=True)

    def _temporary(self, path: Path) -> Path:
        return path.with_name(f".{path.name}.{self.token}.partial")


class Contents:
    """In the place of `Outputs` for who wants no files: what would be in them, by partition."""

    last: None = None

    def __init__(self) -> None:
        self._of: dict[int, tuple[bytes, bytes]] = {}

    def prepare(self) -> None: ...

    def write(self, index: int, proof: Proof, public: Sequence[int]) -> None:
        """Keep one partition's proof.json and public.json."""
        self._of[index] = proof_json(proof), public_json(public)

    def publish(self) -> None: ...

    def discard(self) -> None: ...

    def all(self) -> tuple[tuple[bytes, bytes], ...]:
        """In the order of the partitions."""
        return tuple(self._of[index] for index in sorted(self._of))


def usual_folder(run_id: str) -> Path:
    """Where a run's proofs go, unless another folder is named."""
    return home() / "proofs" / run_id


def proof_folder(output: Path, name: str) -> Path:
    """Where in a batch's folder the files of a proof go: "merkle-3" for "merkle #3"."""
    return output / name.replace(" #", "-")


def temporary_files(directory: Path, token: str) -> list[Path]:
    """What is there under the temporary names of one proof."""
    return list(directory.glob(f".*.{token}.partial"))


def all_temporary_files(directory: Path) -> list[Path]:
    """What is there under the temporary names of any proof."""
    return list(directory.glob(".*.partial"))
