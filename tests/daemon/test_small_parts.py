"""Addresses, kinds, and files of secrets."""

from pathlib import Path

import pytest

from config import DaemonConfig
from daemon.address import parse_address
from daemon.errors import DaemonError, NotConfigured, Refused
from daemon.kinds import check_kinds, circuit_of, kind_id
from daemon.security import check_listening, is_known, token

GIB = 1 << 30


@pytest.mark.parametrize(
    ("text", "target", "local"),
    [
        ("127.0.0.1:9820", "127.0.0.1:9820", True),
        ("http://localhost:1/", "localhost:1", True),
        ("https://[::1]:443", "[::1]:443", True),
        ("unix:///run/c.sock", "unix:/run/c.sock", True),
        ("unix:/run/c.sock", "unix:/run/c.sock", True),
        ("0.0.0.0:9820", "0.0.0.0:9820", False),
        ("[::]:9820", "[::]:9820", False),
        ("prover-1.example:9820", "prover-1.example:9820", False),
    ],
)
def test_an_address_as_grpc_takes_it_and_whether_others_reach_it(text: str, target: str, local: bool) -> None:
    assert (parse_address(text).target, parse_address(text).is_local) == (target, local)


@pytest.mark.parametrize(
    "text", ["", "a", "host:", ":1", "host:70000", "ftp://a:1", "unix://x", "a b:1", "/s"]
)
def test_what_is_no_address_is_refused_by_name(text: str) -> None:
    with pytest.raises(DaemonError, match="expected"):
        parse_address(text)


def test_a_kind_is_found_by_size_then_by_name() -> None:
    circuits = {"porep-32g": "large", "POREP_SEAL_COMMIT": "any"}
    assert circuit_of(1, 32 * GIB, circuits) == "large"
    assert circuit_of(1, 64 * GIB, circuits) == "any"
    assert kind_id(4, 2048) == "winning-2k"
    with pytest.raises(NotConfigured, match='in wpost-64g = "NAME"'):
        circuit_of(3, 64 * GIB, circuits)
    with pytest.raises(Refused, match="expected one of POREP_SEAL_COMMIT"):
        circuit_of(9, 0, circuits)
    with pytest.raises(NotConfigured, match="did you mean 'porep-32g'"):
        check_kinds({"porep-32": "x"})


def test_a_token_that_others_read_or_guess_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("short")
    with pytest.raises(DaemonError, match="at least 16"):
        token(DaemonConfig(token_file=path))
    path.write_text("0123456789abcdef\n")
    path.chmod(0o644)
    with pytest.raises(DaemonError, match="chmod 600"):
        token(DaemonConfig(token_file=path))
    path.chmod(0o600)
    for text in ("", "0123456789abcdef\n0123456789abcdef", "0123456789abcdeé"):
        path.write_text(text)
        with pytest.raises(DaemonError, match="is no token; expected one line"):
            token(DaemonConfig(token_file=path))
    path.write_text("0123456789abcdef\n")
    assert token(DaemonConfig(token_file=path)) == "0123456789abcdef"
    assert is_known("Bearer 0123456789abcdef", "0123456789abcdef")
    assert not is_known("Bearer ", "0123456789abcdef")


@pytest.mark.parametrize(
    "settings",
    [{}, {"tls_cert": Path("c"), "tls_key": Path("k")}, {"token_file": Path("t")}, {"tls_cert": Path("c")}],
)
def test_an_open_address_without_both_is_refused(settings: dict[str, Path]) -> None:
    with pytest.raises(DaemonError, match="set"):
        check_listening(parse_address("0.0.0.0:9820"), DaemonConfig(**settings))  # type: ignore[arg-type]  # paths
