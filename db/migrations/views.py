"""The views that Grafana, Datasette, Superset and `cuzk history sql` ask; their names and columns stay.

Tables may change from version to version. Moments are UTC; seconds, bytes and states are the tables'.
"""

from collections.abc import Callable, Iterable

from alembic import op

NAMES = (
    "history_runs",
    "history_proofs",
    "history_partitions",
    "history_stages",
    "history_waits",
    "history_memory",
    "history_decisions",
    "history_cache",
    "history_devices",
    "history_pools",
)
_OF_0003 = NAMES[:-2]


def create_views() -> None:
    """Make those of revision 0003."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    for name, select in _selects(_after_here(), _seconds(sqlite)):
        op.execute(f"CREATE VIEW {name} AS {select}")


def drop_views() -> None:
    """Drop those of revision 0003; those that ask others first."""
    for name in reversed(_OF_0003):
        op.execute(f"DROP VIEW {name}")


def create_device_views() -> None:
    """Make that of the devices' memory, and give that of the caches a device."""
    after, of_run = _after_here(), "r.source, r.name AS run, r.host, r.code_version"
    op.execute("DROP VIEW history_cache")
    op.execute(f"CREATE VIEW history_cache AS {_cache(after, of_run, ', c.device')}")
    op.execute(
        f"CREATE VIEW history_devices AS SELECT d.run_id, {of_run}, {after('d.at_s')} AS measured_at,"
        " d.at_s AS seconds, d.device, d.held_bytes, d.reserved_bytes"
        " FROM device_sample d JOIN run r ON r.id = d.run_id"
    )


def drop_device_views() -> None:
    """Go back to those of revision 0003."""
    of_run = "r.source, r.name AS run, r.host, r.code_version"
    op.execute("DROP VIEW history_devices")
    op.execute("DROP VIEW history_cache")
    op.execute(f"CREATE VIEW history_cache AS {_cache(_after_here(), of_run, '')}")


def create_pool_view() -> None:
    """Make that of pools of threads."""
    after, of_run = _after_here(), "r.source, r.name AS run, r.host, r.code_version"
    op.execute(
        f"CREATE VIEW history_pools AS SELECT p.run_id, {of_run}, {after('p.at_s')} AS measured_at,"
        " p.at_s AS seconds, p.pool, p.threads, p.cores"
        " FROM pool_sample p JOIN run r ON r.id = p.run_id"
    )


def drop_pool_view() -> None:
    """And drop it."""
    op.execute("DROP VIEW history_pools")


def _after_here() -> Callable[[str], str]:
    return _after_on_sqlite if op.get_bind().dialect.name == "sqlite" else _after


def _after(seconds: str) -> str:
    """A moment so many seconds after the run's start."""
    return f"r.started_at + {seconds} * interval '1 second'"


def _after_on_sqlite(seconds: str) -> str:
    return f"strftime('%Y-%m-%d %H:%M:%f', r.started_at, printf('%+.3f seconds', {seconds}))"


def _seconds(sqlite: bool) -> str:
    """How long a run took."""
    if sqlite:
        return "(julianday(r.ended_at) - julianday(r.started_at)) * 86400.0"
    return "CAST(extract(epoch FROM r.ended_at - r.started_at) AS double precision)"


def _selects(after: Callable[[str], str], seconds: str) -> Iterable[tuple[str, str]]:
    of_run = "r.source, r.name AS run, r.host, r.code_version"
    proof = "proof p JOIN run r ON r.id = p.run_id"
    partition = '"partition" a JOIN proof p ON p.id = a.proof_id JOIN run r ON r.id = p.run_id'
    stage = f"stage s JOIN {partition.replace(' a JOIN', ' a ON a.id = s.partition_id JOIN')}"
    count = "(SELECT count(*) FROM proof p WHERE p.run_id = r.id"
    return (
        (
            "history_runs",
            f"SELECT r.id AS run_id, {of_run}, r.state, r.started_at, r.ended_at, {seconds} AS seconds,"
            f" r.proof_count AS proofs_asked, {count}) AS proofs,"
            f" {count} AND p.state = 'succeeded') AS proofs_succeeded, r.budget_bytes, r.peak_rss_bytes,"
            " r.peak_reserved_bytes, r.flow_run_id, r.machine_id, r.config_id, r.error FROM run r",
        ),
        (
            "history_proofs",
            f"SELECT p.id AS proof_id, p.run_id, {of_run}, p.name AS proof, p.circuit, p.priority,"
            f" p.partition_count, p.state, {after('p.submitted_s')} AS submitted_at,"
            f" {after('p.ended_s')} AS ended_at, p.ended_s - p.submitted_s AS seconds, p.error FROM {proof}",
        ),
        (
            "history_partitions",
            f"SELECT a.id AS partition_id, a.proof_id, p.run_id, {of_run}, p.name AS proof, p.circuit,"
            ' a."index" AS partition_index, a.device, a.state, a.reserved_bytes, a.measured_bytes,'
            f" a.wait_cause, a.error FROM {partition}",
        ),
        (
            "history_stages",
            f"SELECT s.partition_id, a.proof_id, p.run_id, {of_run}, p.name AS proof, p.circuit, a.device,"
            f" s.sequence, s.name AS stage, {after('s.started_s')} AS started_at,"
            f" {after('s.ended_s')} AS ended_at, s.ended_s - s.started_s AS seconds, s.wait_cause,"
            f" s.task_run_id FROM {stage}",
        ),
        (
            "history_waits",
            "SELECT partition_id, proof_id, run_id, source, run, host, code_version, proof, circuit, stage,"
            " started_at, seconds, wait_cause FROM history_stages WHERE stage IN ('wait', 'load', 'queue')",
        ),
        (
            "history_memory",
            f"SELECT m.run_id, {of_run}, {after('m.at_s')} AS measured_at, m.at_s AS seconds, m.rss_bytes,"
            " m.file_bytes, m.reserved_bytes FROM memory_sample m JOIN run r ON r.id = m.run_id",
        ),
        (
            "history_decisions",
            f"SELECT d.run_id, {of_run}, d.sequence, d.position, {after('d.at_s')} AS decided_at,"
            " d.at_s AS seconds, d.kind, d.proof_id, d.partition_index, d.reserved_bytes, d.why"
            " FROM decision d JOIN run r ON r.id = d.run_id",
        ),
        ("history_cache", _cache(after, of_run, "")),
    )


def _cache(after: Callable[[str], str], of_run: str, more: str) -> str:
    return (
        f"SELECT c.run_id, {of_run}, c.sequence, c.position, {after('c.at_s')} AS happened_at,"
        f" c.at_s AS seconds, c.kind, c.entry, c.size_bytes, c.why{more}"
        " FROM cache_event c JOIN run r ON r.id = c.run_id"
    )
