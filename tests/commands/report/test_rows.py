"""Rows of `report` that --part, --filter and --problems choose without a screen."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import AccountServers, free_port

LISTS = ("streams", "replication", "consumers")
_ROW = r"^(?:│ )?(?:ORDERS[ │]+(?=work))?(ORDERS|IDLE|FULL|work)\b"


@pytest.fixture
def busy(cli: Cli, url: str) -> Cli:
    """ORDERS, the consumer `work` of it, IDLE, and FULL, which is wrong."""
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "IDLE", "idle.>")
    js.stream(url, "FULL", "full.>", max_msgs=10, discard="new")
    js.publish(url, "full.1", count=10)
    js.publish(url, "orders.new", count=3)
    cli("consumer add ORDERS work --pull --defaults", status=0)
    return cli


def _list_rows(cli: Cli, flags: str) -> list[str]:
    """Return the chosen rows of --json. Tables and rounds have the same."""
    [report] = cli(f"report --json {flags}", status=0).json["reports"]
    names = _name_rows(report)
    [line] = cli(f"report --count 1 --json {flags}", status=0).out.splitlines()
    assert _name_rows(json.loads(line)["reports"][0]) == names
    for command, tty in (("report", False), ("report", True), ("report --count 1", False)):
        out = cli(f"{command} {flags}", tty=tty, status=0).out
        assert re.findall(_ROW, re.sub(r"\x1b\[[0-9;]*m", "", out), re.MULTILINE) == names, out
    return names


def _name_rows(report: dict[str, Any]) -> list[str]:
    return [row.get("consumer") or row["stream"] for kind in LISTS for row in report[kind]]


@pytest.mark.parametrize(
    ("flags", "chosen"),
    [
        ("", ["FULL", "IDLE", "ORDERS", "work"]),
        ("--part streams", ["FULL", "IDLE", "ORDERS"]),
        ("--part consumers", ["work"]),
        ("--part 2", ["work"]),
        ("--part replication", []),
        ("--part problems", ["FULL", "work"]),
        ("--problems", ["FULL", "work"]),
        ("--problems --part consumers", ["work"]),
        ("--problems --part streams", ["FULL"]),
        ("--part problems --filter pulls", ["work"]),
        ("--filter z", []),
        ("--filter ^ord", ["ORDERS", "work"]),
        ("--filter !^ord", ["FULL", "IDLE"]),
        ("--filter Ord", []),
        ("--filter ord --part streams", ["ORDERS"]),
    ],
)
def test_chosen_rows(flags: str, chosen: list[str], busy: Cli) -> None:
    assert _list_rows(busy, flags) == chosen


def test_what_is_wrong_is_said_of_all_rows(busy: Cli) -> None:
    whole, part = (busy(f"report {flags}", status=0).out.splitlines() for flags in ("", "--part consumers"))
    assert whole[0] == part[0] and "problem" in part[0]
    documents = [busy(f"report --json {flags}", status=0).json for flags in ("", "--part consumers")]
    assert documents[0]["reports"][0]["trouble"] == documents[1]["reports"][0]["trouble"] != []
    assert "No rows to show" in busy("report --filter nothing", status=0).out
    assert busy(["report", "--part", "consumers", "--fail-on", "stream == 'FULL'"], status=1).out


@pytest.mark.parametrize("command", ["report", "report --count 1"])
def test_csv_has_one_list(command: str, busy: Cli) -> None:
    """With the same columns, whether there are rows or not."""

    def read(flags: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(busy(f"{command} --as csv {flags}", status=0).out)))

    assert [row["stream"] for row in read("")] == ["FULL", "IDLE", "ORDERS"]
    assert [row["consumer"] for row in read("--part consumers")] == ["work"]
    assert [row["name"] for row in read("--problems")] == ["ORDERS > work", "FULL"]
    for part in ("streams", "consumers"):
        header, *rows = busy(f"{command} --as csv --part {part}", status=0).out.splitlines()
        assert rows and busy(f"{command} --as csv --part {part} --filter nix", status=0).out == header + "\n"
    assert read("--part replication") == []


def test_places_are_searched_too(offline_cli: Cli, account_servers: AccountServers) -> None:
    for name in ("east", "west"):
        url = account_servers.new_account().url
        js.stream(url, "ORDERS", "orders.>")
        offline_cli(f"context add {name} --server {url}", status=0)
    document = offline_cli("report --json --context east --context west --filter ^west", status=0).json
    assert [len(report["streams"]) for report in document["reports"]] == [0, 1]


def test_a_recording_shows_a_part_of_what_it_has(busy: Cli, tmp_path: Path) -> None:
    file = tmp_path / "rounds"
    busy(f"report --record {file} --count 1 --part consumers", status=0)
    [line] = busy(f"report --replay {file} --json --part streams", status=0).out.splitlines()
    [report] = json.loads(line)["reports"]
    assert len(report["streams"]) == 3 and report["consumers"] == []


def test_servers_and_accounts_are_shown_if_they_are_asked_for(busy: Cli, system_url: str) -> None:
    assert "Account Report" not in busy("report", status=0).out
    shown = busy("report --part accounts", status=0).out
    assert "Account Report" in shown and "Stream Report" not in shown and "unlimited" in shown
    assert "a login of the system account" in busy("report --part servers", status=0).out
    [report] = busy("report --json", status=0).json["reports"]
    [account] = report["accounts"]
    assert account["stream_count"] == 3 and account["max_file"] is None and report["servers"] == []
    head, row = busy("report --part 5 --as csv", status=0).out.splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["stream_count"] == "3"
    system = f"report --server {system_url}"
    shown = busy(f"{system} --part servers", status=0).out
    assert "Server Report" in shown and "test-server" in shown
    [report] = busy(f"{system} --part servers --json", status=0).json["reports"]
    assert report["error"] is None and report["streams"] == []
    [server] = report["servers"]
    assert server["server"] == "test-server" and server["streams_stored"] >= 3
    [report] = busy(f"{system} --json", status=0).json["reports"]  # as doctor, which finds nothing wrong
    assert report["error"] is None and report["servers"] and report["as_of"]["streams"] is None
    busy([*system.split(), "--fail-on", "streams_stored > 2", "--part", "servers"], status=1)


def test_a_part_of_a_place_that_does_not_answer(offline_cli: Cli) -> None:
    offline_cli(f"context add gone --server nats://127.0.0.1:{free_port()}", status=0)
    offline_cli("report --context gone --part consumers --json", status=4)


def test_csv_of_problems_has_those_of_consumers(cli: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    js.ask(
        url,
        "CONSUMER.DURABLE.CREATE.s.C",
        {"stream_name": "s", "config": {"durable_name": "C", "ack_policy": "explicit"}},
    )
    js.publish(url, "s.x")
    for flags in ("--problems", "--part problems", "--problems --filter C"):
        [row] = csv.DictReader(io.StringIO(cli(f"report {flags} --as csv", status=0).out))
        assert (row["kind"], row["name"], row["codes"]) == ("consumer", "s > C", '["NOBODY_PULLS"]')
    chosen = cli("report --problems --columns name,kind", status=0).out
    assert chosen.split()[-4:] == ["s", ">", "C", "consumer"]
    assert len(cli("report --problems --filter other --as csv", status=0).out.splitlines()) == 1
