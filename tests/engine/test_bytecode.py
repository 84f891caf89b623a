"""Bytecode of what a proof imports is kept where Python itself would not keep it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.engine.support import ROOT


def test_what_a_proof_imports_is_kept_though_python_writes_none(tmp_path: Path) -> None:
    code = "from engine.bytecode import keep_bytecode; keep_bytecode()"
    prefix = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **prefix}, check=True)
    numba = find_spec("numba")
    assert numba is not None
    assert numba.origin is not None
    for source in (ROOT / "engine" / "one_proof.py", ROOT / "kernels" / "cpu" / "msm.py", Path(numba.origin)):
        kept = list((tmp_path / source.relative_to("/").parent).glob(f"{source.stem}.*.pyc"))
        assert len(kept) == 1, source
