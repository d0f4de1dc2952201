"""`service stats`."""

import json
import signal
import subprocess

import pytest

from jsctl.services.statistics import Count, compute_rows
from jsctl.views.result import Cell
from jsctl.views.service.documents import rates
from tests.support.run import Cli
from tests.support.services import start


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
