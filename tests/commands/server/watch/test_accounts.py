"""`server watch accounts`."""

import json

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_accounts_and_jetstream(system: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "S", "s", domain="hub")
    rows = json.loads(system("server watch accounts --count 1 --json", status=0).out)
    accounts = {row["account"]: row for row in rows}
    assert accounts["ACC"]["servers"] == 2 and accounts["ACC"]["leafnodes"] == 2
    rows = json.loads(system("server watch jsz --count 1 --sort api --json", status=0).out)
    assert [row["api"] for row in rows] == sorted((row["api"] for row in rows), reverse=True)
    assert next(row["api"] for row in rows if row["server"] == "hub-server") > 0
    assert {"pending", "pending_requests", "snapshot", "ha_assets"} <= set(rows[0])
