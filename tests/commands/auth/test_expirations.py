"""`auth expirations`."""

import time

from tests.support.auth_store import Store
from tests.support.run import Cli


def test_expirations(auth_cli: Cli, store: Store) -> None:
    now = int(time.time())
    store.user("SHOP", "alice", top={"exp": now + 86_400 * 10})
    store.user("SHOP", "bob", top={"exp": now - 60})
    store.account("SHOP", top={"exp": now + 86_400 * 100})
    rows = auth_cli("auth expirations --within 30d --json", status=0).json
    assert [(row["name"], row["state"], row["kind"]) for row in rows] == [
        ("bob", "expired", "user"),
        ("alice", "soon", "user"),
    ]
    everything = auth_cli("auth expirations --json", status=0).json
    assert [row["name"] for row in everything][:3] == ["bob", "alice", "SHOP"]
    assert everything[-1]["expires"] is None
    assert auth_cli("auth expirations --within 1s --operator OP", status=0).out.count("\n") >= 1
    store.user("SHOP", "bob")
    assert auth_cli("auth expirations --within 1s", status=0).out == "Nothing expires within 1s\n"
