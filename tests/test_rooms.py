"""The arrows between the rooms, and what each may import from outside, as the README's map says."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT: dict[str, set[str]] = {
    "kernels": set(),
    "groth16": {"kernels"},
    "policy": set(),
    "db": set(),
    "config": set(),
    "examples": set(),
    "plots": {"db"},
    "sim": {"policy", "db", "config"},
    "engine": {"policy", "groth16", "kernels", "db", "config", "examples"},
    "daemon": {"engine", "policy", "groth16", "db", "config", "examples"},
    "tasks": {"engine", "config"},
    "flows": {"daemon", "tasks", "engine", "sim", "plots", "policy", "db", "config", "examples"},
    "bench": {"daemon", "engine", "groth16", "kernels", "policy", "db", "plots", "config"},
    "benchmarks": {
        "daemon", "flows", "tasks", "engine", "groth16", "kernels", "policy", "sim", "plots", "db", "config",
        "examples",
    },
    "cli": {
        "bench", "daemon", "flows", "tasks", "engine", "sim", "plots", "policy", "db", "groth16",
        "kernels", "config",
        "examples",
    },
}  # fmt: skip
LIVES_ONLY_IN = {
    "prefect": {"flows", "tasks"},
    "simpy": {"sim", "benchmarks"},
    "sqlalchemy": {"db"},
    "alembic": {"db"},
    "numba": {"kernels", "benchmarks"},
    "llvmlite": {"kernels"},
    "click": {"cli", "benchmarks"},
    "matplotlib": {"plots", "benchmarks"},
    "grpc": {"daemon", "benchmarks"},
}


def imported_packages(path: Path) -> set[str]:
    """Top-level names that a source file imports, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import hides an arrow; write it in full"
            names.add((node.module or "").split(".")[0])
    return names


def sources(room: str) -> list[Path]:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files, f"the room {room} is empty"
    return files


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_arrows_point_down(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}
    for path in sources(room):
        wrong = (imported_packages(path) & MAY_IMPORT.keys()) - allowed
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


@pytest.mark.parametrize("package", LIVES_ONLY_IN)
def test_each_library_lives_in_its_rooms(package: str) -> None:
    for room in MAY_IMPORT.keys() - LIVES_ONLY_IN[package]:
        for path in sources(room):
            assert package not in imported_packages(path), f"{path.relative_to(ROOT)} imports {package}"


def test_every_room_is_known() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert packages == MAY_IMPORT.keys()


@pytest.mark.parametrize("module", ["cli.main", "groth16.prover", "kernels.fields", "policy"])
def test_light_rooms_load_without_the_heavy_libraries(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"prefect", "sqlalchemy", "simpy", "matplotlib"} & set(loaded.stdout.split())


def test_what_draws_loads_matplotlib_when_it_draws() -> None:
    code = "import sys, plots; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "matplotlib" not in loaded.stdout.split()
