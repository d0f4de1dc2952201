"""`stream get` on a real server, and what it shares with `stream view`."""

import base64
import re

from tests.support import js
from tests.support.run import Cli

BINARY = b"a\x00\x1b[31mred"


def test_get(orders: Cli) -> None:
    shown = orders("stream get ORDERS 2", status=0).out
    assert re.fullmatch(
        r"Item: ORDERS#2 received \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)"
        r" \(\S+\) on Subject ORDERS.new\n\norder 2\n",
        shown,
    )
    result = orders("stream get ORDERS -S 'ORDERS.*' --json", status=0).json
    assert (result["subject"], result["seq"]) == ("ORDERS.other", 6)
    assert base64.b64decode(result["data"]) == b"bye"


def test_get_shows_headers_in_their_order(cli: Cli, url: str) -> None:
    js.stream(url, "H", "h")
    cli("pub h body -H A:1 -H B:x -H A:2 -J", status=0)
    shown = cli("stream get H 1", status=0).out
    assert "\n\nHeaders:\n  A: 1\n  B: x\n  A: 2\n\nbody\n" in shown


def test_get_a_missing_message(orders: Cli) -> None:
    for line in ("stream get ORDERS 3", "stream get ORDERS 99", "stream get ORDERS -S ORDERS.nope"):
        outcome = orders(line, status=3)
        assert outcome.out == ""
        assert "has no message" in outcome.err
    assert "specify ID or --last-for" in orders("stream get ORDERS", status=64).err
    assert "used together" in orders("stream get ORDERS 1 --last-for ORDERS.new", status=64).err


def test_get_asks(orders: Cli) -> None:
    by_subject = orders("stream get", tty=True, answers=["ORDERS", ..., "ORDERS.other"], status=0)
    assert by_subject.asked == [
        "Select a Stream",
        "Message Sequence to retrieve",
        "Subject to retrieve last message for",
    ]
    assert "bye" in by_subject.out
    assert "order 1" in orders("stream get ORDERS", tty=True, answers=["1"], status=0).out


def test_bytes_do_not_reach_the_terminal(cli: Cli, url: str) -> None:
    js.stream(url, "BIN", "bin")
    js.publish(url, "bin", BINARY)
    js.publish(url, "bin", b"text \x1b[31mred")
    for line in ("stream get BIN 1", "stream view BIN", "stream get BIN 1 --raw", "stream view BIN --raw"):
        shown = cli(line, tty=True, status=0).out
        assert "\x1b[31m" not in shown, line
        assert "\x00" not in shown, line
    assert "61 00 1b 5b" in cli("stream get BIN 1", status=0).out
    assert "text \\x1b[31mred" in cli("stream get BIN 2", tty=True, status=0).out
    assert cli("stream get BIN 1 --raw", status=0).out == BINARY.decode()
    assert cli("stream view BIN 1 --raw", status=0).out == BINARY.decode() + "\n"


def test_translate(orders: Cli) -> None:
    assert "ORDER 1" in orders("stream get ORDERS 1 --translate 'tr a-z A-Z'", status=0).out
    shown = orders(
        ["stream", "view", "ORDERS", "1", "--raw", "--translate", "echo {{Stream}} {{Subject}}"]
    ).out
    assert shown == "ORDERS ORDERS.new\n\n"
    # Nothing of a subject becomes a word of the command, and what the command complains of is shown.
    odd = orders(
        ["stream", "get", "ORDERS", "1", "--translate", "sh -c 'echo $0 >&2; exit 3' '{{Subject}} x'"]
    )
    assert odd.out.endswith("\n\nORDERS.new x\n")
    assert "cannot run" in orders("stream get ORDERS 1 --translate /no/such", status=64).err
    assert orders(["stream", "get", "ORDERS", "1", "--translate", "'"], status=64).out == ""
