"""`jsctl service` and its commands."""

import json
import signal
import subprocess

import pytest

from jsctl.services.statistics import Count, compute_rows
from jsctl.views.result import Cell
from jsctl.views.service.documents import rates
from tests.support.run import Cli
from tests.support.services import answering, reply, start


def test_list(cli: Cli, url: str) -> None:
    others = [reply("info", id=id, description="Weighs", endpoints=[]) for id in ("2", "1")]
    with answering(url, {"$SRV.INFO": others}):
        assert [(one["name"], one["id"]) for one in cli("service ls --json", status=0).json] == [
            ("W", "1"),
            ("W", "2"),
        ]
        rows = cli("service list", status=0).out.splitlines()
        assert [row.split()[:3] for row in rows if "1.0.0" in row] == [
            ["W", "1.0.0", "1"],
            ["W", "1.0.0", "2"],
        ]
        assert "No such option" in cli("service list --endpoint x", status=64).err


def test_ping(cli: Cli, url: str) -> None:
    with answering(url, {"$SRV.PING": [reply("ping")], "$SRV.PING.W": [reply("ping")]}):
        (pong,) = cli("service ping W --json", status=0).json
        assert (pong["name"], pong["id"]) == ("W", "1") and pong["rtt_ns"] > 0
        assert "W" in cli("service ping", status=0).out
        assert "service V not found" in cli("service ping V", status=3).err


def test_info(cli: Cli, url: str) -> None:
    endpoints = [{"name": name, "subject": f"w.{name}"} for name in ("heavy", "light")]
    one = reply("info", description="Weighs", endpoints=endpoints)
    with answering(url, {"$SRV.INFO.W": [one], "$SRV.INFO.W.1": [one]}):
        document = cli("service info W --json", status=0).json
        assert document["info"]["endpoints"] == endpoints and document["stats"] is None
        assert document["instances"] == [{"info": document["info"], "stats": None}]
        assert cli("service info W 1 --json", status=0).json == document
        shown = cli("service info W --endpoint light", status=0).out
        assert "Weighs" in shown and "w.light" in shown and "w.heavy" not in shown
        assert "not a valid regular expression" in cli("service info W --endpoint '('", status=64).err


def test_info_with_statistics(cli: Cli, url: str) -> None:
    names = ("heavy", "light")
    infos = [reply("info", id=id, endpoints=[{"name": name} for name in names]) for id in ("1", "2")]
    counts = {"num_requests": 1234, "processing_time": 2 * 10**9, "last_error": "400:too light"}
    more = {"data": {"scale": 7}}
    stats = [
        reply("stats", id=id, started=started, endpoints=[{"name": name, **counts, **more} for name in names])
        for id, started in (("1", "2026-11-23T12:00:00Z"), ("2", "long ago"))
    ]
    with answering(url, {"$SRV.INFO.W": infos, "$SRV.STATS.W": stats}):
        document = cli("service info W --endpoint light --json", status=0).json
        assert [one["name"] for one in document["stats"]["endpoints"]] == ["light"]
        assert document["info"]["id"] == document["stats"]["id"] == "1"
        assert [one["stats"]["started"] for one in document["instances"]][1] == "long ago"
        shown = cli("service info W", status=0).out
        assert "1,234" in shown and "400:too light" in shown and '"scale": 7' in shown and "long ago" in shown


def test_rates_and_skew() -> None:
    key = ("S", "e", "1"), ("S", "e", "2")
    before = {key[0]: Count(10, 0, 100), key[1]: Count(10, 0, 100)}
    now = {key[0]: Count(40, 1, 400), key[1]: Count(20, 0, 200)}
    [row] = compute_rows(now, before, 2.0)
    assert (row.requests, row.rate, row.error_rate, row.average, row.skew) == (60, 20.0, 0.5, 10, 1.5)
    [restarted] = compute_rows({key[0]: Count(5, 0, 50)}, before, 1.0)
    assert restarted.rate == 5.0
    [idle] = compute_rows(now, now, 1.0)
    assert (idle.rate, idle.average, idle.skew) == (0.0, -1, 0.0)
    assert list(rates([idle]).parts[0].rows[0][-2:]) == [Cell(None, "-")] * 2  # type: ignore[union-attr]


@pytest.mark.slow
def test_stats_watch(demo: subprocess.Popen[str], cli: Cli) -> None:
    watching = start(cli, "stats", "--watch", "--every", "100ms", "--json")
    assert watching.stdout is not None
    first = json.loads(watching.stdout.readline())
    assert first[0]["instances"] == 2 and first[0]["rate"] == 0
    cli("service request demo echo x --count 20 -r", status=0)
    assert any(json.loads(watching.stdout.readline())[0]["rate"] > 0 for _ in range(20))
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_no_heading_is_cut(width: int, demo: subprocess.Popen[str], cli: Cli) -> None:
    """Columns are left out instead, and named: first the errors, of which there are none."""
    cli("service request demo echo x", status=0)
    out = cli("service stats demo", tty=True, width=width, status=0).out
    heading = out.split("├")[1].partition("┤")[2]
    words = ["ID", "Endpoint", "Requests", "Queue", "Group", "Errors"]
    words += ["Processing", "Time", "Average", "Time"]
    left_out = {60: ["Queue", "Group", "Errors", "Processing", "Time"], 80: ["Errors"]}.get(width, [])
    for word in left_out:
        words.remove(word)
    assert sorted(heading.replace("│", " ").split()) == sorted(words)
    named = {60: "Queue Group, Errors, Processing Time", 80: "Errors"}.get(width, "")
    assert (f"left out: {named};" in out) == bool(left_out)
    assert width < 80 or all(row["id"] in out for row in cli("service stats demo --json", status=0).json)


@pytest.mark.slow
def test_a_service_is_found_and_used(demo: subprocess.Popen[str], cli: Cli) -> None:
    listed = cli("service list", status=0).out
    assert listed.count("demo") == 2
    document = cli("service info demo --json", status=0).json
    first, second = document["instances"]
    assert first["info"] == document["info"] and first["info"]["endpoints"][0]["subject"] == "demo.echo"
    assert second["stats"]["endpoints"][0]["num_requests"] == 0
    one = cli(f"service info demo {second['info']['id']} --json", status=0).json
    assert one == {**second, "instances": [second]}
    assert "demo.echo" in cli("service info demo", status=0).out
    assert "Endpoint echo" not in cli("service info demo -e nothing", status=0).out
    answered = cli("service request demo echo 'hello {{Count}}' -r --count 3", status=0)
    assert answered.out == "hello 1\nhello 2\nhello 3\n"
    headers = cli("service request demo echo x --json", status=0).json["headers"]
    assert headers
    stats = cli("service stats demo --json", status=0).json
    assert sum(one["endpoints"][0]["num_requests"] for one in stats) == 4
    pings = cli("service ping --json", status=0).json
    assert len(pings) == 2 and pings[0]["rtt_ns"] > 0
    assert "no endpoint nope; its endpoints: echo" in cli("service request demo nope", status=3).err
    assert "did you mean demo?" in cli("service info demi", status=3).err
    assert "no instance X" in cli("service info demo X", status=3).err
    demo.send_signal(signal.SIGINT)
    assert demo.wait(10) == 0
