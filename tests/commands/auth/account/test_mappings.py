"""`auth account mappings`."""

from pathlib import Path

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_mappings(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    assert "already" in auth_cli("auth account mappings add ORDERS a.b c.d 30", status=64).err
    assert "at most 100%" in auth_cli("auth account mappings add ORDERS a.b c.e 71", status=64).err
    auth_cli("auth account mappings add ORDERS a.b c.e 100 east", status=0)
    assert "100% in cluster east" in auth_cli("auth account mappings info ORDERS a.b", status=0).out
    file = tmp_path / "m.yaml"
    file.write_text("x.*:\n- subject: y.{{wildcard(1)}}\n  weight: 40\n- {subject: z, weight: 60}\n")
    auth_cli(f"auth account mappings add ORDERS --config {file}", status=0)
    rows = auth_cli("auth account mappings ls ORDERS --json", status=0).json
    assert [(row["source"], row["weight"]) for row in rows] == [
        ("a.b", 30),
        ("a.b", 100),
        ("x.*", 40),
        ("x.*", 60),
    ]
    file.write_text("x: 5\n")
    assert "list of targets" in auth_cli(f"auth account mappings add ORDERS --config {file}", status=64).err
    auth_cli("auth account mappings rm ORDERS a.b", status=0)
    auth_cli("auth account mappings rm ORDERS 'x.*' --force", status=0)
    assert "mappings" not in acme.read_account("ORDERS").nats


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    assert "c.d: 30%" in auth_cli("auth account mappings info ORDERS a.b", status=0).out
    assert auth_cli("auth account mappings info ORDERS a.b --json", status=0).json == {
        "a.b": [{"subject": "c.d", "weight": 30, "Subject": "c.d", "Weight": 30, "Cluster": ""}]
    }
    assert "has no mapping of a" in auth_cli("auth account mappings info ORDERS a", status=3).err


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account mappings ls ORDERS --json", status=0).json == []
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    (row,) = auth_cli("auth account mappings ls ORDERS --json", status=0).json
    assert (row["source"], row["weight"]) == ("a.b", 30)
    rows = auth_cli("auth account mappings ls ORDERS", status=0).out.splitlines()[2:]
    assert [line.split() for line in rows if line] == [["a.b", "c.d", "30%"]]
    assert "there is no account 'NOPE'" in auth_cli("auth account mappings ls NOPE", status=3).err


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    auth_cli("auth account mappings add ORDERS x y", status=0)
    auth_cli("auth account mappings rm ORDERS a.b", status=0)
    assert list(acme.read_account("ORDERS").nats["mappings"]) == ["x"]
    refused = auth_cli("auth account mappings rm ORDERS a.b --force --json", status=3)
    assert "account ORDERS has no mapping of a.b" in refused.err and not refused.out
