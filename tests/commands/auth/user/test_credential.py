"""`auth user credential`."""

import stat
from pathlib import Path

import pytest

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("alice ORDERS", "jsctl auth user credential alice.creds alice ORDERS"),
        ("alice", "jsctl auth user credential alice.creds alice"),
    ],
)
def test_credentials_without_a_file(acme: AuthStore, auth_cli: Cli, words: str, line: str) -> None:
    err = auth_cli(f"auth user creds {words}", status=64).err
    assert err == f"jsctl: error: the file to write is missing; use {line}\n"
    assert not Path("alice").exists()


def test_credentials(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "alice.creds"
    auth_cli(f"auth user credential {file} alice ORDERS", status=0)
    text = file.read_text()
    assert (
        acme.get_user_path("ORDERS", "alice").read_text().strip() in text and "BEGIN USER NKEY SEED" in text
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "exists" in auth_cli(f"auth user credential {file} alice ORDERS", status=64).err
