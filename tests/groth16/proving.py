"""From one of the oracle's circuits to its files, its key and a proof, as a program would do it."""

from dataclasses import dataclass
from pathlib import Path

from groth16.matrices import read_matrices
from groth16.proof import Proof
from groth16.prover import Sums, multiply_all, prove
from groth16.quotient import quotient
from groth16.r1cs import read_r1cs
from groth16.setup import setup
from groth16.synthesis import Scalars, synthesize
from groth16.witness import Witness, read_witness
from groth16.zkey import ProvingKey, read_proving_key
from kernels.cpu.ntt import domain_of
from kernels.parallel import Run, serial
from tests.groth16 import oracle


@dataclass(frozen=True)
class Files:
    r1cs: Path
    wtns: Path
    zkey: Path


def write_circuit(circuit: oracle.Circuit, folder: Path) -> Files:
    """The circuit and its witness; the key's name is only reserved."""
    files = Files(folder / "circuit.r1cs", folder / "circuit.wtns", folder / "circuit.zkey")
    files.r1cs.write_bytes(oracle.r1cs_bytes(circuit))
    files.wtns.write_bytes(oracle.wtns_bytes(circuit))
    return files


def set_up(circuit: oracle.Circuit, folder: Path) -> Files:
    """The circuit, its witness and a key by our setup."""
    files = write_circuit(circuit, folder)
    setup(read_r1cs(files.r1cs), files.zkey, serial)
    return files


def quotient_of(files: Files, run: Run = serial) -> tuple[ProvingKey, Witness, Scalars]:
    key, witness = read_proving_key(files.zkey), read_witness(files.wtns)
    evaluations = synthesize(read_matrices(key.header), witness, key.header.domain_size, run)
    return (
        key,
        witness,
        quotient(domain_of(key.header.curve.fr, len(evaluations.a).bit_length() - 1), evaluations, run),
    )


def sums_of(files: Files, run: Run = serial) -> tuple[ProvingKey, Sums]:
    """The proof's sums before they are blinded."""
    key, witness, scalars = quotient_of(files, run)
    return key, multiply_all(key, witness, scalars, run)


def prove_files(files: Files, run: Run = serial) -> tuple[ProvingKey, Proof]:
    key, witness, scalars = quotient_of(files, run)
    return key, prove(key, witness, scalars, run)
