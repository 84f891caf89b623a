"""What a file of matrices is called and has inside (see `matrices_file`), and what they take in memory.

Apart from it, so that this is known without a compiler.
"""

from pathlib import Path

from groth16.container import read_container

MAGIC, VERSION = "pcex", 2
ARRAYS = ("unit starts", "unit columns", "row starts", "columns", "coefficients")  # of a `Matrix`
SECTIONS = {1: "checksums"} | {
    2 + len(ARRAYS) * index + part: f"{matrix}'s {name}"
    for index, matrix in enumerate("AB")
    for part, name in enumerate(ARRAYS)
}


def matrices_bytes_in(path: Path) -> int:
    """What the arrays of A and B take, by the file's head. Raises InputError as `read_container` does."""
    container = read_container(path, MAGIC, VERSION, SECTIONS)
    return sum(container.sections[number].size_bytes for number in SECTIONS if number > 1)
