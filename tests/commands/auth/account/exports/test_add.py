"""`auth account exports add`."""

import os
import subprocess
import sys

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_processes_beside_each_other_lose_nothing(acme: AuthStore, auth_cli: Cli) -> None:
    lines = [[sys.executable, "-m", "jsctl", "auth", "account", "exports", "add"] for _ in range(6)]
    running = [
        subprocess.Popen(
            [*line, f"e{number}", f"e.{number}", "ORDERS"],
            env={**os.environ, **auth_cli.environ},
            stdout=subprocess.DEVNULL,
        )
        for number, line in enumerate(lines)
    ]
    assert [process.wait() for process in running] == [0] * 6
    assert len(acme.read_account("ORDERS").nats["exports"]) == 6


def test_add(acme: AuthStore, auth_cli: Cli) -> None:
    export = auth_cli("auth account exports add orders 'orders.>' ORDERS --json", status=0).json
    assert acme.read_account("ORDERS").nats["exports"] == [export]
    again = auth_cli("auth account exports add orders 'orders.>' ORDERS", status=64)
    assert "already" in again.err and len(again.err.splitlines()) == 1
