"""Empty histories to test on: SQLite files, and databases of a real PostgreSQL.

PostgreSQL is the server at CUZK_TEST_POSTGRESQL_URL, else a cluster of our own from the installed binaries.
Without either its tests are skipped, but fail where CI is set.
"""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

from benchmarks.history.server import installed, own_server
from config import environment
from db import History, Partition, Proof, Run, Stage, open_history


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """URL of a running server on which schemas may be made."""
    given = environment("CUZK_TEST_POSTGRESQL_URL")
    if given:
        yield given
    elif installed():
        with own_server() as server:
            yield server.url
    elif environment("CI"):
        pytest.fail("no PostgreSQL is installed, and CUZK_TEST_POSTGRESQL_URL is not set")
    else:
        pytest.skip("no PostgreSQL is installed, and CUZK_TEST_POSTGRESQL_URL is not set")


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
