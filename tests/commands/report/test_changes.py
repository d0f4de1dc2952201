"""Keys of `jsctl report --watch` that change something: with --allow-changes, a dry run and a name."""

import json
import re
from pathlib import Path

import pytest

from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli


@pytest.mark.slow
def test_a_key_shows_the_line_that_changes(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)
    watched = Watched(cli.terminal("report --watch 200ms"))
    watched.until("  ORDERS")
    watched.press("X")
    watched.until("jsctl stream purge ORDERS")
    watched.press("E")
    watched.until("jsctl stream edit ORDERS --interactive")  # without flags, there is nothing to change
    watched.press("?")
    watched.until("show the line to remove all messages")
    assert "changes allowed" not in watched.screen.text
    watched.press("qq")
    assert watched.end() == 0
    assert js.info(url, "ORDERS")["state"]["messages"] == 3


@pytest.mark.slow
def test_a_change_after_its_dry_run_and_name(cli: Cli, url: str) -> None:
    """Once, also when its page is refreshed; another name changes nothing."""
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)
    watched = Watched(cli.terminal("report --watch 200ms --allow-changes"))
    watched.until(lambda text: "changes allowed" in text and "  ORDERS" in text)
    watched.press("X")
    watched.until("Would purge Stream ORDERS: 3 messages")
    watched.press("!ORDER\r")
    watched.until(lambda text: "that is not ORDER" in text and "Would purge" in text)
    assert js.info(url, "ORDERS")["state"]["messages"] == 3
    watched.press("\x1b\x1b")
    watched.until("  ORDERS")
    js.publish(url, "orders.new")
    watched.until(lambda text: re.search(r"ORDERS +4", text))
    watched.press("X")
    watched.until("Would purge Stream ORDERS: 4 messages")  # not what was shown before
    watched.press("!ORDERS\r")
    watched.until(lambda text: "--force" in text and "done" in text)
    js.publish(url, "orders.new", count=2)
    watched.press("r")
    watched.press("\x1b\x1b")
    watched.press("E--dry-run\r")
    watched.until("--dry-run cannot be used here")
    watched.press("\x15-snats://elsewhere --max-age 7d\r")
    watched.until("-snats://elsewhere cannot be used here")
    watched.press("\x15--creds x.creds --max-age 7d\r")
    watched.until("--creds cannot be used here")
    watched.press("\x15--max-age 7d\r")
    watched.until(lambda text: "max_age" in text and "7d0h0m0s" in text)
    watched.press("!ORDERS\r")
    watched.until("was updated")
    watched.press("\x1bE--subjects ..\r")
    watched.until("not a valid")
    assert "do it" not in watched.screen.text
    watched.press("q")
    assert watched.end() == 0
    assert js.info(url, "ORDERS")["state"]["messages"] == 2
    assert js.info(url, "ORDERS")["config"]["max_age"] == 7 * 86_400 * 10**9
    journal = next(Path(cli.home).rglob("changes.jsonl")).read_text().splitlines()
    assert [json.loads(line)["state"] for line in journal] == ["started", "done"] * 2
    assert "jsctl stream purge ORDERS --force" in watched.written, "what was done stays on the terminal"


@pytest.mark.slow
def test_more_would_be_lost_than_was_shown(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)
    watched = Watched(cli.terminal("report --watch 200ms --allow-changes"))
    watched.until("  ORDERS")
    watched.press("E--max-msgs 3\r")
    watched.until("! does it")  # and nothing is lost
    js.publish(url, "orders.new", count=2)
    watched.press("!ORDERS\r")
    watched.until(lambda text: "nothing was done: this now deletes 2 messages" in " ".join(text.split()))
    watched.press("\x1bE--max-msgs 3\r")
    watched.until(lambda text: "! does it" in text and "2 messages" in text)
    watched.press("!ORDERS\r")
    watched.until("was updated")
    watched.press("q")
    assert watched.end() == 0
    assert js.info(url, "ORDERS")["state"]["messages"] == 3


@pytest.mark.slow
def test_nothing_is_done_without_a_journal(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new")
    (tmp_path / "state").touch()
    cli.environ["XDG_STATE_HOME"] = str(tmp_path / "state")
    watched = Watched(cli.terminal("report --watch 200ms --allow-changes"))
    watched.until("  ORDERS")
    watched.press("X")
    watched.until("! does it")
    watched.press("!ORDERS\r")
    watched.until("nothing was done")
    assert "written to" not in watched.screen.text
    watched.press("q")
    assert watched.end() == 0
    assert "cannot write" in watched.written and "written to" not in watched.written
    assert js.info(url, "ORDERS")["state"]["messages"] == 1


@pytest.mark.slow
def test_changes_of_a_consumer(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli("consumer add ORDERS work --pull --defaults", status=0)
    watched = Watched(cli.terminal("report --watch 200ms --part consumers --allow-changes"))
    watched.until("work")
    watched.press("P1h\r")
    watched.until("Would pause Consumer ORDERS > work")
    watched.press("!work\r")
    watched.until("Paused ORDERS > work")
    watched.press("\x1bU")
    watched.until("Would resume")
    watched.press("!work\r")
    watched.until("was resumed")
    watched.press("\x1bD")
    watched.until("Would ")
    watched.press("!work\r")
    watched.until("done")
    watched.press("q")
    assert watched.end() == 0
    assert js.ask(url, "CONSUMER.NAMES.ORDERS")["total"] == 0


@pytest.mark.slow
def test_what_a_dry_run_warns_of(cli: Cli, url: str) -> None:
    """It is on the page, too, and a wrong name is not called wrong any more while another is typed."""
    cli("kv add CFG", status=0)
    watched = Watched(cli.terminal("report --watch 200ms --allow-changes", columns=60, rows=20))
    watched.until("KV_CFG")
    watched.press("X")
    watched.until(lambda text: "belongs to a bucket" in text and "Would purge" in text)
    watched.press("!CFG\r")
    watched.until("that is not KV_CFG")
    watched.press("\x15KV_")
    watched.until(lambda text: "that is not" not in text)
    watched.press("CFG\r")
    watched.until("done")
    watched.press("\x1bE--max-age 7d --description a-long-description-of-it\r")
    watched.until("! does it")
    shown = "".join(watched.screen.text.split())
    assert "--max-age7d--descriptiona-long-description-of-it--dry-run" in shown, "the line is not cut"
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_a_context_for_production(cli: Cli, url: str, tmp_path: Path) -> None:
    """Its name is in the title, and must be typed before changes are allowed."""
    cli(f"context add west --server {url} --production", status=0)
    assert cli("context info west --json", status=0).json["jsctl_production"] is True
    for scheme, color in (("blue", "34"), ("double", "31")):  # one of a scheme without a color is red
        cli(f"context add west --colors {scheme}", status=0)
        watched = Watched(cli.terminal("report --watch 200ms --context west"))
        watched.until(lambda text: re.search(r"jsctl report  west  \d\d:\d\d:\d\d ", text))
        style = re.findall(r"\x1b\[([\d;]*)mwest", watched.screen.styled_lines[0])[0].split(";")
        assert {color, "7"} <= {*style}
        watched.press("q")
        assert watched.end() == 0
    for typed, status in (("east", 64), ("west", 0)):
        watched = Watched(cli.terminal("report --watch 200ms --context west --allow-changes"))
        watched.until("marked as production")
        watched.press(f"{typed}\r")
        if status == 0:
            watched.until("west  changes allowed")
            watched.press("q")
        assert watched.end() == status
    cli("context add west --no-production", status=0)
    assert not cli("context info west --json", status=0).json.get("jsctl_production")


def test_without_a_screen(cli: Cli, tmp_path: Path) -> None:
    assert "needs --watch on a terminal" in cli("report --watch --allow-changes", status=64).err
    assert "needs --watch on a terminal" in cli("report --allow-changes", status=64).err
    replay = cli(f"report --replay {tmp_path}/x --allow-changes", status=64)
    assert "shows a recorded file" in replay.err
