"""Makes the `_pb2` modules from the .proto files beside it: `python -m daemon.proto.generate [FOLDER]`.

Needs grpcio-tools, which is among the development dependencies. What it makes is committed.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROTOS = ("cuzk/v1/proving.proto", "cuzk_py/v1/circuits.proto")
_IMPORT = re.compile(r"^from (cuzk(?:_py)?)\.v1 import", re.MULTILINE)


def generate(target: Path) -> list[Path]:
    """Write the modules below `target`, as they lie below this folder, and return their paths."""
    from grpc_tools import protoc

    outputs = [f"--{kind}_out={target}" for kind in ("python", "pyi", "grpc_python")]
    if protoc.main(["protoc", f"-I{HERE}", *outputs, *PROTOS]) != 0:
        raise SystemExit("protoc: refused the .proto files")
    made = sorted(path for path in target.rglob("*_pb2*") if path.suffix in (".py", ".pyi"))
    for path in made:  # a .proto's package is the whole program's elsewhere, and below this folder here
        path.write_text(_IMPORT.sub(r"from daemon.proto.\1.v1 import", path.read_text()))
    return made


if __name__ == "__main__":
    for path in generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE):
        print(path)
