"""`server watch` on a real hub with a leaf node."""

import json
import threading
import time
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)


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


def test_api_requests(system: Cli, hub_leaf: HubLeaf) -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            js.ask(hub_leaf.url, "STREAM.NAMES", domain="hub")
            time.sleep(0.05)  # a rate of requests is shown

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        line = "server watch api req --every 500ms --count 3"

        def seen() -> bool:
            out = system(f"{line} --account '^ACC$' --json", status=0).out
            last = json.loads(out.splitlines()[-1])
            return [(row["type"], row["account"]) for row in last if row["recent"]] == [
                ("stream_names", "ACC")
            ]

        wait_for(seen, "requests of the account")
        none = system("server watch api req --account none --count 1 --json", status=0).out
        assert json.loads(none) == []
    finally:
        stop.set()
        asking.join()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("server watch servers --every 1ms", "100ms at least"),
        ("server watch api requests --account '['", "not a valid regular expression"),
        ("server watch api requests --rate 1ms", "1s at least"),
    ],
)
def test_wrong_flags(system: Cli, line: str, words: str) -> None:
    outcome = system(line, status=64)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("what", ["servers", "accounts", "jetstream", "api requests"])
def test_without_the_system_account(cli: Cli, what: str) -> None:
    assert "system account" in cli(f"server watch {what} --timeout 1s", status=5).err
