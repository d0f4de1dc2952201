"""`jsctl auth user` and its commands."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_names_complete(acme: AuthStore, auth_cli: Cli) -> None:
    words = ["jsctl", "auth", "user", "info", "al"]
    environ = {"_JSCTL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": "4"}
    shown = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={**os.environ, **auth_cli.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.split() == ["plain,alice"]


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    assert (
        auth_cli("auth user info alice ORDERS --json", status=0).json
        == acme.read_user("ORDERS", "alice").claims
    )
    shown = auth_cli("auth user info alice", status=0).out
    assert "Account: ORDERS (A" in shown and "Max Subscriptions: unlimited" in shown
    assert "did you mean alice?" in auth_cli("auth user info alic ORDERS", status=3).err


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth user add bob ORDERS --pub-allow a --subscriptions 7", status=0)
    rows = auth_cli("auth user ls ORDERS --json", status=0).json
    assert [(row["name"], row["pub_permissions"], row["subscriptions"]) for row in rows] == [
        ("alice", False, None),
        ("bob", 1, 7),
    ]
    assert auth_cli("auth user ls ORDERS --names", status=0).out == "alice\nbob\n"
    assert "there is no account 'NOPE'" in auth_cli("auth user ls NOPE", status=3).err


def test_a_broken_user_can_be_removed(acme: AuthStore, auth_cli: Cli) -> None:
    acme.get_user_path("ORDERS", "alice").write_text("garbage")
    auth_cli("auth user info alice", status=1)
    auth_cli("auth user rm alice --force", status=0)
    assert acme.list_user_names("ORDERS") == []


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    alice = acme.read_user("ORDERS", "alice")
    assert "use --force" in auth_cli("auth user rm alice ORDERS", status=64).err
    removed = auth_cli("auth user rm alice ORDERS --force --json", status=0).json
    assert removed["removed"] == "alice"
    assert acme.list_user_names("ORDERS") == [] and not acme.has_seed(alice.public)
    assert "no user 'alice'" in auth_cli("auth user rm alice ORDERS --force", status=3).err


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
