"""What is asked of a daemon: a circuit by name, or a kind of proof of the public protocol, with its input."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.errors import BenchError
from config import format_size
from daemon.proto.cuzk.v1 import proving_pb2
from groth16.errors import InputError
from groth16.inputs import read_inputs
from groth16.witness import read_witness

KINDS: dict[str, str] = {
    **dict.fromkeys(("porep", "porep-c2", "seal-commit"), "POREP_SEAL_COMMIT"),
    **dict.fromkeys(("snap", "snap-deals", "update"), "SNAP_DEALS_UPDATE"),
    **dict.fromkeys(("wpost", "window-post", "windowpost"), "WINDOW_POST_PARTITION"),
    **dict.fromkeys(("winning", "winning-post", "winningpost"), "WINNING_POST"),
}
"""By the names that the public client takes."""

SECTOR_BYTES = 32 << 30  # what the public client's data is of
POREP = "POREP_SEAL_COMMIT"
HASH_BYTES = 32


@dataclass(frozen=True)
class PublicOptions:
    """What the public protocol says of a proof besides its input; hashes in hexadecimal."""

    c1: Path | None = None
    vanilla: Path | None = None
    registered_proof: int = 0
    sector_num: int = 1
    miner_id: int = 1000
    partition: int = 0
    randomness: str | None = None
    comm_r_old: str | None = None
    comm_r_new: str | None = None
    comm_d_new: str | None = None


@dataclass(frozen=True)
class Asked:
    """One proof, as often as it is wanted. `kind`: of the public protocol; None for a circuit by name.

    input_text: for people. options: for `Client.submit`; public: for SubmitProof.
    """

    circuit: str
    kind: str | None
    input_text: str
    options: dict[str, Any] = field(default_factory=dict)
    public: proving_pb2.SubmitProofRequest | None = None


def asked(
    circuit: str, inputs: Path | None, public: PublicOptions, *, priority: str = "", partitions: int = 0
) -> Asked:
    """What the options say. Raises BenchError or InputError, one line, for what cannot be used."""
    name = KINDS.get(circuit.lower())
    if name is not None:
        return _of_kind(circuit, name, inputs, public, priority, partitions)
    files = [each for each in (inputs, public.c1, public.vanilla) if each is not None]
    if len(files) > 1:
        raise BenchError(f"{' and '.join(map(str, files))}: are both inputs; give one")
    options: dict[str, Any] = {"priority": priority, "partitions": partitions}
    if not files:
        return Asked(circuit, None, "the circuit's own", options)
    (path,) = files
    data = _checked(path)
    options["witness" if path.suffix == ".wtns" else "inputs"] = data
    return Asked(circuit, None, f"{path}, {format_size(len(data))}", options)


def _checked(path: Path) -> bytes:
    """A witness or signals of some circuit. Raises InputError."""
    if path.suffix == ".wtns":
        read_witness(path)
    else:
        read_inputs(path)
    return path.read_bytes()


def _of_kind(
    circuit: str, name: str, inputs: Path | None, public: PublicOptions, priority: str, partitions: int
) -> Asked:
    if partitions:
        raise BenchError(f"--partitions: a {circuit} proof has the partitions of its circuit; leave it out")
    option, path = ("--c1", public.c1) if name == POREP else ("--vanilla", public.vanilla)
    path = path if path is not None else inputs
    if path is None:
        raise BenchError(
            f"{option}: is missing, the file that a {circuit} proof is made of; give {option} FILE"
        )
    proofs = _read(path)
    request = proving_pb2.SubmitProofRequest(
        proof_kind=proving_pb2.ProofKind.Value(name),
        sector_size=SECTOR_BYTES,
        registered_proof=public.registered_proof,
        priority=priority.upper() or None,
        vanilla_proof=proofs if name == POREP else _vanilla(path, proofs),
        sector_number=public.sector_num,
        miner_id=public.miner_id,
        randomness=_hash("--randomness", public.randomness),
        partition_index=public.partition,
        sector_key_cid=_hash("--comm-r-old", public.comm_r_old),
        new_sealed_cid=_hash("--comm-r-new", public.comm_r_new),
        new_unsealed_cid=_hash("--comm-d-new", public.comm_d_new),
    )
    return Asked(circuit, name, f"{path}, {format_size(len(proofs))}", public=request)


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    if not data:
        raise InputError(f"{path}: is empty; expected a proof's input")
    return data


def _vanilla(path: Path, data: bytes) -> bytes:
    """The bytes of one vanilla proof; as the public client, from JSON with proofs in base64 as well."""
    try:
        value = json.loads(data)
    except ValueError:
        return data
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        return data  # inputs of a circuit
    if len(texts) != 1:
        raise BenchError(
            f"{path}: found {len(texts)} vanilla proofs, expected one: the protocol has room for one"
        )
    try:
        return base64.b64decode(texts[0], validate=True)
    except binascii.Error as error:
        raise InputError(f"{path}: is not base64 ({error}); expected a vanilla proof") from error


def _hash(option: str, text: str | None) -> bytes:
    if text is None:
        return b""
    try:
        value = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        value = b""
    if len(value) != HASH_BYTES:
        raise BenchError(f"{option}: found {text!r}, expected {2 * HASH_BYTES} hexadecimal digits")
    return value
