"""A store that one tool writes is read by the other: jsctl and the `nats` tool, where there is one."""

import os
import shutil
import subprocess

import pytest

from jsctl.auth.store import AuthStore
from tests.support.run import Cli

NATS = os.environ.get("JSCTL_BENCH_NATS") or shutil.which("nats") or ""
pytestmark = pytest.mark.skipif(not NATS, reason="there is no nats tool")


def nats(cli: Cli, *words: str) -> str:
    """Run `nats auth`; it must succeed."""
    environ = {**os.environ, **cli.environ}
    line = [NATS, "auth", *words]
    done = subprocess.run(line, env=environ, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nats_reads_what_jsctl_writes(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS shipper --pub-allow a", status=0)
    auth_cli("auth user add bob ORDERS --key shipper", status=0)
    auth_cli("auth account exports add e e.x ORDERS --service --private", status=0)
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    auth_cli("auth account revocations add alice ORDERS", status=0)
    assert acme.read_operator().public in nats(auth_cli, "operator", "ls")
    assert "Revocations: 1" in nats(auth_cli, "account", "info", "ORDERS")
    assert "Activation Required: true" in nats(auth_cli, "account", "exports", "info", "e.x", "ORDERS")
    assert "c.d" in nats(auth_cli, "account", "mappings", "ls", "ORDERS")
    assert "Scoped: true" in nats(auth_cli, "user", "info", "bob", "ORDERS")


def test_jsctl_reads_what_nats_writes(acme: AuthStore, auth_cli: Cli) -> None:
    nats(auth_cli, "operator", "add", "OTHER")
    nats(auth_cli, "operator", "select", "OTHER")
    nats(
        auth_cli, "account", "add", "A", "--jetstream", "--js-disk", "1GB", "--js-memory", "1GB", "--defaults"
    )
    nats(auth_cli, "account", "keys", "add", "A", "r", "--pub-allow", "x.>")
    nats(auth_cli, "user", "add", "u", "A", "--key", "r", "--defaults")
    assert "x.>" in auth_cli("auth user info u A", status=0).out
    auth_cli("auth account edit A --connections 3", status=0)
    assert "Connections: 3" in nats(auth_cli, "account", "info", "A")
    nats(auth_cli, "account", "edit", "ORDERS", "--operator", "ACME", "--imports", "9")
    assert acme.read_account("ORDERS").nats["limits"]["imports"] == 9
