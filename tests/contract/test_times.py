"""Times without a zone are local wherever one is written; times for people name the zone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.base import units
from tests.support import js
from tests.support.run import Cli

LOCAL, THERE = "2050-04-22 11:48:55", "2050-04-22T06:18:55Z"
EARLIER, THEN = "2024-04-22 11:48:55", "2024-04-22T06:18:55Z"


def _forget_zone() -> None:
    time.tzset()
    for cached in (units._format_second, units._format_zone, units._format_utc_text, units._parse_second):
        cached.cache_clear()


@pytest.fixture
def orders(cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """With the stream ORDERS and its consumer C, in Kolkata."""
    js.stream(url, "ORDERS", "ORDERS.>")
    cli("consumer add ORDERS C --pull --defaults", status=0)
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    _forget_zone()
    yield cli
    monkeypatch.undo()
    _forget_zone()


def test_a_pause(orders: Cli) -> None:
    line = ["consumer", "pause", "ORDERS", "C", LOCAL]
    questions = orders(line, answers=[False], status=0).asked
    assert questions == [f"Really pause Consumer ORDERS > C until {LOCAL}+05:30"]
    assert f"until {LOCAL}+05:30" in orders([*line, "-f"], status=0).out
    assert orders("consumer info ORDERS C --json", status=0).json["config"]["pause_until"] == THERE
    assert f"{LOCAL}+05:30" in orders("consumer info ORDERS C", status=0).out


def test_starts(orders: Cli, tmp_path: Path) -> None:
    orders(["consumer", "add", "ORDERS", "D", "--pull", "--deliver", EARLIER, "--defaults"], status=0)
    assert orders("consumer info ORDERS D --json").json["config"]["opt_start_time"] == THEN
    orders(["stream", "add", "M", "--mirror", f"ORDERS,start={EARLIER}", "--defaults"], status=0)
    assert orders("stream info M --json").json["config"]["mirror"]["opt_start_time"] == THEN
    answers = {"Adjust mirror start": True, "Mirror Start Sequence": "0", "Mirror Start Time": EARLIER}
    orders("stream add N --mirror ORDERS", answers=answers, status=0)
    assert orders("stream info N --json").json["config"]["mirror"]["opt_start_time"] == THEN
    file = tmp_path / "f.yaml"
    for number, text in enumerate((EARLIER, f'"{EARLIER}"')):
        name = f"F{number}"
        mirror = f"{{name: ORDERS, opt_start_time: {text}}}"
        file.write_text(f"streams: [{{name: {name}, mirror: {mirror}}}]\n")
        orders(f"apply -f {file}", status=0)
        assert orders(f"stream info {name} --json").json["config"]["mirror"]["opt_start_time"] == THEN


def test_what_is_shown_can_be_given_back(orders: Cli) -> None:
    created = orders("stream info ORDERS", status=0).out.splitlines()[0].partition(" created ")[2]
    assert created.endswith("+05:30")
    orders(["consumer", "add", "ORDERS", "D", "--pull", "--deliver", created, "--defaults"], status=0)
    start = orders("consumer info ORDERS D --json").json["config"]["opt_start_time"]
    assert start[:19] == orders("stream info ORDERS --json").json["created"][:19]
