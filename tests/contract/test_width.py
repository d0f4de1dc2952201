"""What commands show on a terminal of 80 columns, and in a pipe."""

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.tables import find_wide

LONG = "ORDERS-with-a-name-of-which-nobody-knows-why-it-has-to-be-so-long"


@pytest.fixture
def wide(cli: Cli, url: str) -> Cli:
    subjects = [f"orders.{region}.>" for region in ("eu", "us", "asia", "africa", "oceania")]
    js.stream(url, LONG, *subjects, description="All that the shops have sold " * 4)
    js.publish(url, "orders.eu.new", count=3)
    js.stream(url, "COPY", mirror={"name": LONG, "filter_subject": "orders.eu.>"})
    for name in (f"{LONG}-consumer", "C"):
        cli(f"consumer add {LONG} {name} --pull --filter orders.eu.> --max-pending 2", status=0)
    cli(f"consumer next {LONG} C --count 2 --no-ack", status=0)
    return cli


LINES = (
    "stream ls",
    "stream report",
    f"stream info {LONG}",
    f"stream state {LONG}",
    f"stream subjects {LONG}",
    f"consumer ls {LONG}",
    f"consumer report {LONG}",
    f"consumer report {LONG} --raw",
    f"consumer info {LONG} C",
    "report",
    "account info",
    "errors ls",
    "errors lookup 10025",
    "cheat",
    "trace orders.eu.new",
    "bench pub other --msgs 20 --clients 2 --processes 1 --no-progress",
)


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_line_is_wider_than_the_terminal(wide: Cli, width: int) -> None:
    for line in LINES:
        out = wide(line, tty=True, width=width, environ={"NO_COLOR": "1"}, status=0).out
        assert too_wide(out, width) == [], line


def test_names_stay_whole_in_a_pipe(wide: Cli) -> None:
    for line in ("stream ls", "stream report", f"consumer report {LONG}", "report"):
        out = wide(line, width=80, status=0).out
        assert LONG in out
        assert "…" not in out
    assert f"{LONG}-consumer" in wide(f"consumer ls {LONG}", width=80, status=0).out


def too_wide(text: str, width: int) -> list[str]:
    """The lines that do not fit and are not a command to copy."""
    lines = [line.strip() for line in find_wide(text, width)]
    return [line for line in lines if not line.removeprefix("try: ").removeprefix("$ ").startswith("jsctl ")]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_messages_and_events_are_folded(wide: Cli, width: int) -> None:
    for line in (
        f"sub --stream {LONG} --all -T",
        f"stream view {LONG}",
        f"stream get {LONG} 1",
        f"consumer next {LONG} {LONG}-consumer",
        "events --wait 50ms",
        "latency --duration 50ms",
        f"consumer why {LONG} C",
        f"stream info {LONG}-that-is-not-there",
        f"stream purge {LONG} --dry-run",
    ):
        result = wide(line, tty=True, width=width, environ={"NO_COLOR": "1"})
        assert too_wide(result.out + result.err, width) == [], line


def test_payloads_and_command_lines_stay_whole(wide: Cli, url: str) -> None:
    js.publish(url, "orders.eu.new", b"word " * 30)
    for line in (f"stream get {LONG} 4", f"stream view {LONG} --id 4"):
        assert "word " * 29 + "word" in wide(line, tty=True, width=60, status=0).out
    shown = wide(f"consumer why {LONG} {LONG}-consumer", tty=True, width=60, status=0).out
    assert f"try: jsctl consumer next {LONG} {LONG}-consumer --no-ack\n" in shown


def test_several_servers_have_a_line_each(cli: Cli) -> None:
    cli("context add c --server nats://a.example.com:4222,nats://b.example.com:4222", status=0)
    shown = [line.strip() for line in cli("context info c", tty=True, width=80, status=0).out.splitlines()]
    assert "nats://b.example.com:4222" in shown
