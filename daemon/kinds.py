"""Which circuit proves what the public protocol calls a proof kind: as [daemon.circuits] says."""

from collections.abc import Mapping

from config import nearest
from daemon.errors import NotConfigured, Refused
from daemon.proto.cuzk.v1.proving_pb2 import ProofKind

SHORT = {
    "POREP_SEAL_COMMIT": "porep",
    "SNAP_DEALS_UPDATE": "snap",
    "WINDOW_POST_PARTITION": "wpost",
    "WINNING_POST": "winning",
}
SIZES = {"2k": 2 << 10, "8m": 8 << 20, "512m": 512 << 20, "32g": 32 << 30, "64g": 64 << 30}
_OF_FILECOIN = (b'"Phase1Out"', b'"SectorNum"', b'"vanilla_proofs"', b'"comm_r"')


def check_kinds(circuits: Mapping[str, str]) -> None:
    """Raise NotConfigured, one line, for a key that names no kind of proof."""
    known = [*SHORT, *(f"{short}-{size}" for short in SHORT.values() for size in SIZES)]
    for key in circuits:
        if key not in known:
            guess = nearest(key, known)
            meant = f"did you mean {guess!r}?" if guess else f"expected one of {', '.join(known)}"
            raise NotConfigured(f"daemon.circuits: unknown kind {key!r}; {meant}")


def circuit_of(kind: int, sector_size: int, circuits: Mapping[str, str]) -> str:
    """The name of the circuit. Raises Refused for no kind, NotConfigured for one that has no circuit here."""
    if kind not in ProofKind.values() or kind == 0:
        raise Refused(f"proof_kind: found {kind}, expected one of {', '.join(list(SHORT))}")
    for key in (kind_id(kind, sector_size), ProofKind.Name(kind)):
        if key in circuits:
            return circuits[key]
    raise NotConfigured(
        f"no circuit is configured for {ProofKind.Name(kind)} of {sector_size} bytes: name one in "
        f'[daemon.circuits], as in {kind_id(kind, sector_size)} = "NAME"'
    )


def kind_id(kind: int, sector_size: int) -> str:
    """As the public clients call a circuit: "porep-32g"."""
    size = next((name for name, size_bytes in SIZES.items() if size_bytes == sector_size), "32g")
    return f"{SHORT[ProofKind.Name(kind)]}-{size}"


def refuse_vanilla(data: bytes) -> None:
    """Raise NotConfigured for what Filecoin's own circuits are given, which are not part of this."""
    if data[:1] == b"{" and any(word in data[:4096] for word in _OF_FILECOIN):
        raise NotConfigured(
            "vanilla_proof is a Filecoin vanilla proof, whose circuit this program cannot synthesize; "
            "expected a witness (.wtns) or the inputs (JSON) of the configured circuit"
        )
