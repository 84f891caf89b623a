"""The file as a user writes it, right and wrong; each wrong one gets one line that names file and key."""

import socket
from pathlib import Path

import pytest

from config import Config, ConfigError, home, load_config
from config.load import UNUSED_KEYS

CUZK_FILE = """
[daemon]
listen = "0.0.0.0:9820"
[srs]
param_cache = "/data/zk/params"
[memory]
total_budget = "256GiB"
safety_margin = "8GiB"
eviction_min_idle = "10m"
[gpus]
devices = [0, 1]
gpu_threads = 32
gpu_workers_per_device = 1
[scheduler]
max_batch_size = 2
max_batch_wait_ms = 0
sort_by_type = false
[synthesis]
threads = 64
[pipeline]
enabled = false
synthesis_lookahead = 3
synthesis_concurrency = 2
[logging]
level = "debug"
format = "json"
"""


@pytest.fixture(autouse=True)
def _clean_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUZK_CONFIG", raising=False)
    monkeypatch.setenv("CUZK_HOME", str(tmp_path / "home"))


def load(text: str) -> Config:
    path = Path("settings.toml")
    path.write_text(text, encoding="utf-8")
    return load_config(path, warn=expect_no_effect)


def expect_no_effect(warning: str) -> None:
    assert " has no effect: " in warning, warning


def test_every_value_has_a_default(tmp_path: Path) -> None:
    config = load_config()
    assert config.memory.total_budget == "auto"
    assert config.memory.safety_margin == 5 * 2**30
    assert config.memory.eviction_min_idle == 300.0
    assert (config.gpus.devices, config.gpus.gpu_workers_per_device, config.scheduler.max_batch_size) == (
        "auto",
        2,
        1,
    )
    assert config.srs.param_cache == tmp_path / "home/params"
    assert config.srs.derived_limit == 8 * 2**30
    assert config == load("")


def test_the_file_of_cuzk_is_read_as_it_is() -> None:
    config = load(CUZK_FILE)
    assert config.memory.model_dump() == {
        "total_budget": 256 * 2**30,
        "safety_margin": 8 * 2**30,
        "eviction_min_idle": 600.0,
        "ledger": home() / f"memory-{socket.gethostname()}.json",
    }
    assert config.gpus.model_dump() == {
        "devices": [0, 1],
        "device_memory": "auto",
        "gpu_threads": 32,
        "gpu_workers_per_device": 1,
        "cores": [],
    }
    assert config.pipeline.model_dump() == {
        "enabled": False,
        "synthesis_lookahead": 3,
        "synthesis_lookahead_bytes": "auto",
        "synthesis_concurrency": 2,
    }
    assert config.srs.param_cache == Path("/data/zk/params")


def test_paths_are_taken_from_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    text = (
        "[circuits.a]\nzkey='a.zkey'\nwitness='/w.wtns'\npriority='high'\npartitions=3\n[history]\nurl='h.db'\n"
        "[memory]\nledger='shared.json'"
    )
    (tmp_path / "sub/settings.toml").write_text(text)
    monkeypatch.setenv("CUZK_CONFIG", "sub/settings.toml")
    config = load_config()
    circuit = config.circuits["a"]
    assert circuit.zkey == tmp_path / "sub/a.zkey"
    assert circuit.witness == Path("/w.wtns")
    assert (circuit.partitions, circuit.priority) == (3, "high")
    assert config.history_url() == str(tmp_path / "sub/h.db")
    assert config.memory.ledger == tmp_path / "sub/shared.json"


def test_the_file_beside_is_used_unless_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cuzk.toml").write_text("synthesis.threads = 1")
    (tmp_path / "other.toml").write_text("synthesis.threads = 2")
    (tmp_path / "third.toml").write_text("synthesis.threads = 3")
    assert load_config().synthesis.threads == 1
    monkeypatch.setenv("CUZK_CONFIG", "0")
    assert load_config().synthesis.threads == 1
    monkeypatch.setenv("CUZK_CONFIG", "other.toml")
    assert load_config().synthesis.threads == 2
    assert load_config("third.toml").synthesis.threads == 3


def test_no_password_leaves_the_settings() -> None:
    config = load("[history]\nurl='postgresql://user:hunter2@db/cuzk'")
    assert "hunter2" in config.history_url()
    assert "hunter2" not in f"{config}{config!r}{config.snapshot()}"


def test_each_key_out_of_use_gives_a_warning_and_no_error() -> None:
    text = "".join(f"{section}.{key} = 1\n" for section, key in UNUSED_KEYS)
    Path("old.toml").write_text(text)
    warnings: list[str] = []
    assert load_config("old.toml", warn=warnings.append) == Config()
    assert len(warnings) == len(UNUSED_KEYS)
    for warning, (section, key) in zip(warnings, UNUSED_KEYS, strict=True):
        assert warning.startswith(f"old.toml: {section}.{key} is ")


def test_what_is_off_with_the_pipeline_says_so() -> None:
    warnings: list[str] = []
    Path("off.toml").write_text("[pipeline]\nenabled = false\nsynthesis_concurrency = 2")
    load_config("off.toml", warn=warnings.append)
    expected = "off.toml: pipeline.synthesis_concurrency has no effect: pipeline.enabled is false"
    assert [warning[: len(expected)] for warning in warnings] == [expected]


def test_warnings_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.toml").write_text("memory.pinned_budget = '50GiB'")
    load_config("old.toml")
    assert capsys.readouterr().err.startswith("cuzk: warning: old.toml: memory.pinned_budget is deprecated")


WRONG = [
    (
        "memory.total_bugdet = '2GiB'",
        "unknown key 'memory.total_bugdet'; did you mean 'memory.total_budget'?",
    ),
    ("memory.thread = 1", "unknown key 'memory.thread'; did you mean 'synthesis.threads'?"),
    (
        "scheduler.zzzz = 1",
        "unknown key 'scheduler.zzzz'; expected one of max_batch_size, max_batch_wait_ms, sort",
    ),
    ("memroy.a = 1", "unknown section 'memroy'; did you mean 'memory'?"),
    ("circuits.a.zkye = 'b'", "unknown key 'circuits.a.zkye'; did you mean 'circuits.a.zkey'?"),
    (
        "memory.total_budget = '2 gigs'",
        "memory.total_budget: found '2 gigs', expected a size such as \"2GiB\"",
    ),
    ("memory.total_budget = true", "memory.total_budget: found True, expected a size"),
    ("memory.total_budget = '0GiB'", "memory.total_budget: found '0GiB', expected a size above zero"),
    ("memory.safety_margin = 'auto'", "memory.safety_margin: found 'auto', expected a size"),
    (
        "memory.eviction_min_idle = '5 x'",
        "memory.eviction_min_idle: found '5 x', expected a duration such as",
    ),
    ("memory.eviction_min_idle = []", "memory.eviction_min_idle: found [], expected a duration"),
    ("synthesis.threads = '4'", 'synthesis.threads: found "4", expected a whole number'),
    ("gpus.gpu_threads = -1", "gpus.gpu_threads: found -1, expected 0 or more"),
    ("gpus.devices = 'some'", "gpus.devices: found 'some', expected different ordinals such as [0, 1]"),
    ("gpus.devices = [0, -1]", "gpus.devices: found [0, -1], expected different ordinals"),
    ("gpus.devices = [1, 1]", "gpus.devices: found [1, 1], expected different ordinals"),
    ("gpus.devices = 0", "gpus.devices: found 0, expected different ordinals"),
    ("gpus.device_memory = 0", "gpus.device_memory: found 0, expected a size above zero"),
    ("gpus.gpu_workers_per_device = 0", "gpus.gpu_workers_per_device: found 0, expected 1 or more"),
    ("gpus.gpu_workers_per_device = 1e6", "gpus.gpu_workers_per_device: found 1000000.0, expected a whole"),
    ("gpus.gpu_workers_per_device = 99_999", "gpus.gpu_workers_per_device: found 99999, expected at most"),
    ("gpus.gpu_threads = 1_000_000", "gpus.gpu_threads: found 1000000, expected at most 10000"),
    ("gpus.cores = [1, 1]", "gpus.cores: found [1, 1], expected different processors such as [0, 1]"),
    ("synthesis.cores = [-1]", "synthesis.cores: found [-1], expected different processors"),
    ("synthesis.cores = 'all'", "synthesis.cores: found 'all', expected different processors"),
    ("scheduler.max_batch_size = 0", "scheduler.max_batch_size: found 0, expected 1 or more"),
    ("scheduler.max_batch_wait_ms = -1", "scheduler.max_batch_wait_ms: found -1, expected 0 or more"),
    ("scheduler.max_batch_wait_ms = 1_000_000_000", "scheduler.max_batch_wait_ms: found 1000000000, expec"),
    (
        "pipeline.synthesis_lookahead = 0",
        'pipeline.synthesis_lookahead: found 0, expected a whole number from 1 to 10000, or "auto"; '
        "pipeline.enabled = false keeps synthesis from running ahead",
    ),
    ("pipeline.synthesis_lookahead = -1", "pipeline.synthesis_lookahead: found -1, expected a whole number"),
    ("pipeline.synthesis_lookahead_bytes = 0", "pipeline.synthesis_lookahead_bytes: found 0, expected a si"),
    ("pipeline.synthesis_concurrency = -1", "pipeline.synthesis_concurrency: found -1, expected 0 or more"),
    ("memory.safety_margin = 5", "memory.safety_margin: found 5, expected a size with its unit such as"),
    ("memory.total_budget = '64'", "memory.total_budget: found '64', expected a size with its unit such as"),
    ("gpus.device_memory = 16", "gpus.device_memory: found 16, expected a size with its unit such as"),
    ("timeouts.load = '0'", "timeouts.load: found '0', expected a duration with its unit such as"),
    ("timeouts.stall = 300", "timeouts.stall: found 300, expected a duration with its unit such as"),
    ("memory.eviction_min_idle = -1", "memory.eviction_min_idle: found -1, expected a duration"),
    ("memory.eviction_min_idle = inf", "memory.eviction_min_idle: found inf, expected a duration"),
    ("timeouts.stall = -1.0", "timeouts.stall: found -1.0, expected a duration"),
    (
        "[circuits.a]\nzkey='b'\nwitness='d'\npartitions=0",
        "circuits.a.partitions: found 0, expected 1 or more",
    ),
    (
        "[circuits.a]\nzkey='b'\nwitness='d'\npartitions=1_000_000_000_000",
        "circuits.a.partitions: found 1000000000000, expected at most 10000",
    ),
    ("pipeline.enabled = 1", "pipeline.enabled: found 1, expected true or false"),
    (
        "logging.level = 'loud'",
        "logging.level: found \"loud\", expected 'trace', 'debug', 'info', 'warn' or 'error'",
    ),
    ("memory = 3", "memory: found 3, expected a table of keys"),
    ("srs.param_cache = ''", "srs.param_cache: found '', expected the path"),
    ("history.url = 1", "history.url: found 1, expected a text in quotes"),
    ("circuits.a.witness = 'b'", "[circuits.a] lacks the key 'zkey'; add a line zkey = \"FILE\""),
    ("circuits.a.zkey = 'b'", 'circuits.a: found neither of "wasm" and "witness", expected one of them'),
    (
        "[circuits.a]\nzkey='b'\nwasm='c'",
        'circuits.a: found "wasm" alone, expected "wasm" and "inputs" together',
    ),
    ("[circuits.a]\nzkey='b'\nwasm='c'\nwitness='d'", 'circuits.a: found both of "wasm" and "witness"'),
    ("[circuits.'../a']\nzkey='b'\nwitness='d'", "circuits.../a: found the name '../a', expected letters"),
    ("x = [", "is not TOML: "),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_said_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert str(caught.value).startswith(f"settings.toml: {message}")
    assert "\n" not in str(caught.value)


def test_a_second_problem_is_counted() -> None:
    with pytest.raises(ConfigError, match=r"expected a size.* \(and 1 more\)$"):
        load("memory.total_budget = 'x'\nsynthesis.threads = 'x'")


def test_what_is_no_toml_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"is not TOML: .*line 2, column 1.*; correct it there$"):
        load("[memory]\n= 3\n")
    Path("latin.toml").write_bytes("# Schlüssel".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"is not TOML: .*; save it as UTF-8$"):
        load_config("latin.toml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name, why in [("none.toml", "No such file"), (".", "Is a directory"), ("binary.toml", "is not TOML")]:
        with pytest.raises(ConfigError, match=f"^{name}: {why}"):
            load_config(name)
