"""The compose file and the Dockerfile: what they name is there, and commands and settings are known.

No Docker here: what a container needs of this repository is looked up in it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import prefect.settings
import pytest
import yaml

from cli.main import cli
from flows.deployments.worker import ENDED_WITHIN_S
from flows.server.local import EVENTS, TUNING

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy"
DOCKERFILE = (FOLDER / "Dockerfile").read_text().replace("\\\n", " ")
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def interpolated(text: str) -> str:
    """As Compose does where only the password is set."""

    def value(found: re.Match[str]) -> str:
        name, kind, other = found.groups()
        if kind == "-":
            return str(other)
        assert name == "POSTGRES_PASSWORD", f"{name} has no value unless it is set"
        return "secret"

    return VARIABLE.sub(value, text)


COMPOSE: dict[str, Any] = yaml.safe_load(interpolated((FOLDER / "compose.yaml").read_text()))
SERVICES: dict[str, Any] = COMPOSE["services"]


def check_command(words: list[str]) -> None:
    """That the program of ours or Prefect's takes these words."""
    program, *rest = words
    if program == "prefect":
        asked = [sys.executable, "-m", "prefect", *rest[:2], "--help"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        options = [word for word in rest[2:] if word.startswith("--")]
        assert all(f"{option} " in done.stdout for option in options), done.stdout
        return
    assert program == "cuzk"
    command = cli.commands[rest[0]]
    command.make_context(rest[0], rest[1:])  # click raises for what it does not know


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_names_what_is_there(name: str) -> None:
    service = SERVICES[name]
    for other, how in service.get("depends_on", {}).items():
        assert how == {"condition": "service_healthy"}
        assert "healthcheck" in SERVICES[other]
    for mount in service.get("volumes", []):
        source = mount.split(":")[0]
        if source.startswith("./"):
            assert (FOLDER / source).exists() or source == "./settings"  # which the user makes
        else:
            assert source in COMPOSE["volumes"]
    if build := service.get("build"):
        assert (FOLDER / build["context"]).resolve() == ROOT
        assert (ROOT / build["dockerfile"]).is_file()
        assert service["image"] == "cuzk"


@pytest.mark.parametrize("name", ["server", "worker"])
def test_a_service_s_command_is_known(name: str) -> None:
    check_command(SERVICES[name]["command"])


def test_settings_are_known_and_the_server_s_are_ours() -> None:
    server = SERVICES["server"]["environment"]
    for name in (*server, *SERVICES["worker"]["environment"]):
        assert name == "CUZK_HISTORY_URL" or hasattr(prefect.settings, name), name
    ours = TUNING | EVENTS
    assert {name: server[name] for name in ours} == ours
    *_, code = SERVICES["server"]["healthcheck"]["test"]
    compile(code, "healthcheck", "exec")
    assert "/api/health" in code
    stop_s = float(SERVICES["worker"]["stop_grace_period"].removesuffix("s"))
    assert stop_s > ENDED_WITHIN_S, "runs would be killed before they have said how they ended"


def instructions(name: str) -> list[str]:
    return [line.removeprefix(f"{name} ") for line in DOCKERFILE.splitlines() if line.startswith(f"{name} ")]


def test_what_the_image_installs_is_what_is_pinned() -> None:
    """With hashes; what is installed here is enough for pip, which asks no index."""
    (copied,), (run,) = instructions("COPY"), instructions("RUN")
    assert copied == ". /src"
    first, second = (part.split() for part in run.split("&&")[:2])
    assert first[:3] == second[:3] == ["pip", "install", "--no-cache-dir"]
    here = [word.replace("/src", str(ROOT)) for word in first[3:]]
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *here], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--require-hashes" in first
    (extra,) = re.findall(r"^\"/src\[(\w+)\]\"$", second[3])
    assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_the_image_s_command_is_known_and_ended_by_the_signal_that_it_handles() -> None:
    (command,) = instructions("CMD")
    check_command(json.loads(command))
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_the_docs_commands_are_known() -> None:
    """Those for a container of the worker."""
    docs = (ROOT / "docs" / "prefect.md").read_text()
    commands = re.findall(r"docker compose run --rm worker (cuzk .*)", docs)
    assert commands
    for command in commands:
        check_command(command.split())
