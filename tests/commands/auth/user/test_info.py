"""`auth user info`."""

import os
import subprocess
import sys

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
