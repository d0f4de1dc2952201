"""`server watch servers`, `accounts` and `jetstream`."""

import json

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_servers(system: Cli) -> None:
    first, second = map(
        json.loads, system("server watch servers --count 2 --every 100ms --json", status=0).out.splitlines()
    )
    assert {row["server"] for row in first} == {"hub-server", "leaf-server"}
    assert all(row["sent_rate"] == 0 for row in first) and any(row["sent_rate"] > 0 for row in second)
    shown = system("server watch srv --sort name -n 1 --count 1", status=0).out
    assert "Servers: 1 of 2" in shown and "hub-server" in shown and "leaf-server" not in shown


def test_accounts_and_jetstream(system: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "S", "s", domain="hub")
    rows = json.loads(system("server watch accounts --count 1 --json", status=0).out)
    accounts = {row["account"]: row for row in rows}
    assert accounts["ACC"]["servers"] == 2 and accounts["ACC"]["leafnodes"] == 2
    rows = json.loads(system("server watch jsz --count 1 --sort api --json", status=0).out)
    assert [row["api"] for row in rows] == sorted((row["api"] for row in rows), reverse=True)
    assert next(row["api"] for row in rows if row["server"] == "hub-server") > 0
    assert {"pending", "pending_requests", "snapshot", "ha_assets"} <= set(rows[0])


def test_jetstream(system: Cli) -> None:
    rows = system("server watch jetstream --count 1 --json", status=0).json
    assert {row["server"] for row in rows} == {"hub-server", "leaf-server"}
    assert all(row["api_rate"] == 0 for row in rows), "the first time there is no rate"
    assert "hub-server" in system("server watch jetstream --count 1", status=0).out
    assert "use 100ms or more" in system("server watch jetstream --every 1ms", status=64).err
