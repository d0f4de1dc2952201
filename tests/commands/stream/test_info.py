"""stream info, rm, and names that are left out or not there."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.golden import check
from tests.support.run import Cli


def test_the_sheet(cli: Cli, url: str) -> None:
    cli(
        "stream add ORDERS --subjects ORDERS.*,x --description hello --max-age 1y --max-msgs 1000"
        " --max-bytes 1GB --metadata a=b --metadata cc=dd --republish-source ORDERS.*"
        " --republish-destination 'r.{{wildcard(1)}}' --transform-source x --transform-destination y"
        " --allow-msg-ttl --subject-del-markers-ttl 10s --limit-consumer-inactive 1h --allow-batch"
        " --compression s2 --first-sequence 10",
        status=0,
    )
    js.publish(url, "ORDERS.a", b"hello", 4)
    js.wait_for_messages(url, "ORDERS", 4)
    check("stream_info.txt", cli("stream info ORDERS", tty=True, width=100, status=0).out)
    check("stream_state.txt", cli("s nfo ORDERS --state", status=0).out)


def test_the_sheet_of_mirrors_and_sources(cli: Cli) -> None:
    cli("stream add M --mirror O,start=1200,api=JS.x.API,deliver=d.x", status=0)
    check("stream_info_mirror.txt", cli("stream info M", status=0).out)
    cli(
        "stream add S --source O,filter=a.b --source P,filter=a:b,filter=c,start=2026-01-01T00:00:00Z",
        status=0,
    )
    lines = cli("stream info S", status=0).out.splitlines(keepends=True)
    # The server has tried, or not yet, to find these origins, which do not exist.
    check("stream_info_sources.txt", "".join(line for line in lines if "stream not found" not in line))


def test_json_is_what_the_server_said(cli: Cli, url: str) -> None:
    cli("stream add S --subjects s", status=0)
    result, document = js.ask(url, "STREAM.INFO.S"), cli("stream info S -j", status=0).json
    assert {**document, "ts": ""} == {**result, "ts": ""}


@pytest.mark.parametrize("verb", ["info", "rm", "rm -f", "edit --max-msgs 1"])
def test_an_unknown_stream_is_one_line(cli: Cli, verb: str) -> None:
    words = verb.split()
    for tty in (True, False):
        failed = cli(["stream", words[0], "NOPE", *words[1:]], tty=tty, status=3)
        assert failed.err.startswith("jsctl: error: stream NOPE not found") and failed.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["info", "rm", "edit --max-msgs 1"])
def test_a_name_left_out(cli: Cli, verb: str) -> None:
    assert "STREAM" in cli(f"stream {verb}", status=64).err
    for name in ("B", "A", "KV_x"):
        cli(f"stream add {name} --subjects {name}", status=0)
    picked = cli(f"stream {verb}", answers=["B", True], status=0)
    assert picked.asked[0] == "Select a Stream"
    hidden = cli(f"stream {verb}", answers=["KV_x", True], status=64)
    assert "not one of the choices" in hidden.err
    cli(f"stream --all {verb}", answers=["KV_x", True], status=0)


def test_nothing_to_pick_from(cli: Cli) -> None:
    assert "no streams" in cli("stream info", answers=[], status=3).err
    assert "STREAM" in cli("stream info --no-select", answers=["x"], status=64).err


@pytest.mark.parametrize("name", ["a.b", "*", "a b"])
def test_names_that_no_stream_has(offline_cli: Cli, name: str) -> None:
    failed = offline_cli(["stream", "rm", name, "-f"])
    assert failed.status != 0 and failed.err.count("\n") == 1


def test_rm_asks(cli: Cli, url: str) -> None:
    cli("stream add S --subjects s", status=0)
    js.publish(url, "s", b"hello", 3)
    outcome = cli("stream rm S", answers=[False], status=0)
    assert outcome.asked == ["Really delete Stream S (3 messages, 108 B)"]
    assert "--force" in cli("stream rm S", status=64).err
    assert cli("stream ls --json").json == ["S"]
    assert cli("stream rm S", answers=[True], terminal_error=True, status=0).err == "Stream S was removed\n"
    assert cli("stream ls --json").json == []
    assert "name" in cli("stream rm -f", answers=["S"], status=64).err


def test_foreign_text_is_text(cli: Cli, url: str, tmp_path: Path) -> None:
    """Markup is not read, and no escape sequence reaches a terminal."""
    js.stream(
        url, "S", "s.\x1b[31mx", description="[red]x[/red] \x1b]0;title\x07", metadata={"\x1b[2J": "\x9b1m"}
    )
    for line in ("stream info S", "stream ls", "stream report"):
        for tty in (True, False):
            out = cli(line, tty=tty, width=200, environ={"NO_COLOR": "1"}, status=0).out
            assert not set(out) & {"\x1b", "\x07", "\x9b"}
    out = cli("stream info S", tty=True, status=0).out
    assert "[red]x[/red] \\x1b]0;title\\x07" in out and "s.\\x1b[31mx" in out and "\\x1b[2J: \\x9b1m" in out
    assert cli("stream info S --json").json["config"]["subjects"] == ["s.\x1b[31mx"]
