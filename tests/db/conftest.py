"""Empty histories to test on: SQLite files, and databases of a real PostgreSQL.

PostgreSQL is the server at CUZK_TEST_POSTGRESQL_URL, else a cluster of our own from the installed binaries.
Without either its tests are skipped, but fail where CI is set.
"""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

from config import environment
from db import History, Partition, Proof, Run, Stage, open_history


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """URL of a running server on which schemas may be made."""
    given = environment("CUZK_TEST_POSTGRESQL_URL")
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if given:
        yield given
    elif binaries:
        yield from _own_cluster(binaries[-1].parent)
    elif environment("CI"):
        pytest.fail("no PostgreSQL is installed, and CUZK_TEST_POSTGRESQL_URL is not set")
    else:
        pytest.skip("no PostgreSQL is installed, and CUZK_TEST_POSTGRESQL_URL is not set")


def _own_cluster(binaries: Path) -> Iterator[str]:
    """A cluster in a temporary folder, reached by a socket in it; the server refuses to run as root."""
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    folder = Path(tempfile.mkdtemp(prefix="cuzk-postgresql-", dir="/tmp"))  # a socket's path must be short
    if as_user:
        shutil.chown(folder, "postgres")
    control = [*as_user, str(binaries / "pg_ctl"), "-D", str(folder / "data"), "-w"]
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    try:
        init = [
            str(binaries / "initdb"),
            "-D",
            str(folder / "data"),
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
        ]
        _check([*as_user, *init, "--no-sync"])
        _check([*control, "-l", str(folder / "log"), "-o", options, "start"])
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _check(command: list[str]) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}"


@pytest.fixture
def postgresql(postgresql_server: str) -> Iterator[str]:
    """URL of an empty schema of a PostgreSQL database: as good as its own database, and made far faster."""
    name = f"cuzk_test_{secrets.token_hex(6)}"
    server = make_url(postgresql_server).set(drivername="postgresql+psycopg")
    engine = create_engine(server, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    url = server.set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
    yield url.render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty history's address, once on each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    url: str = request.getfixturevalue("postgresql")
    return url


@pytest.fixture
def history(address: str) -> Iterator[History]:
    """An open empty history."""
    with open_history(address) as opened:
        yield opened


@pytest.fixture
def write_batch() -> Callable[..., Run]:
    """Writes a run with two proofs of two partitions, each partition with stages of 1, 2, 4, … seconds."""

    def write(history: History, run: Run, circuit: str = "merkle") -> Run:
        stages = ("wait", "load", "synthesize", "queue", "prove", "verify")
        with history.writer() as writer:
            writer.insert(run)
            for number in range(2):
                proof = Proof(
                    run_id=run.id, name=f"p{number}", circuit=circuit, partition_count=2, state="succeeded",
                    submitted_s=float(number), ended_s=70.0,
                )  # fmt: skip
                parts = [Partition(proof_id=proof.id, index=index, state="succeeded") for index in range(2)]
                writer.insert(proof, *parts)
                for part in parts:
                    spans = [(stage, 2.0**power) for power, stage in enumerate(stages)]
                    writer.insert(
                        *(
                            Stage(partition_id=part.id, sequence=i, name=n, started_s=s, ended_s=2 * s)
                            for i, (n, s) in enumerate(spans)
                        )
                    )
        assert writer.error is None
        return run

    return write
