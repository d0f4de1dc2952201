"""Lists to pick from and answers that are pasted, in a pseudo-terminal."""

from pathlib import Path

import pexpect
import pytest

from tests.support import js
from tests.support.run import Cli, Terminal
from tests.support.servers import HubLeaf

NOTHING = "nothing matches"


def paste(screen: Terminal, text: str) -> None:
    """Paste a text as a terminal does."""
    screen.send(f"\x1b[200~{text}\x1b[201~")


def start(cli: Cli, line: str, question: str) -> Terminal:
    screen = cli.terminal(line)
    screen.expect_exact(question)
    return screen


def end(screen: Terminal) -> int:
    screen.expect(pexpect.EOF)
    screen.close()
    return int(screen.exitstatus if screen.exitstatus is not None else -1)


@pytest.fixture
def have(cli: Cli, url: str) -> Cli:
    for name in ("ORDERS", "BILLS", "ÜBER"):
        js.stream(url, name, f"{name}.>")
    return cli


@pytest.mark.parametrize(
    ("line", "place", "question"),
    [
        ("stream rm ORDERS --context shop", "[shop] ?", "Really delete Stream ORDERS"),
        ("stream purge ORDERS --context shop --js-domain ''", "[shop] ?", "Really purge"),
        ("stream add --context shop", "[shop] ?", "Stream Name"),
        ("consumer add --context shop", "[shop] ?", "Select a Stream"),
        ("stream edit ORDERS --max-msgs 5 --context shop", "[shop] ?", "Really edit"),
        ("apply -f declared.yaml --context shop", "[shop] ?", "Really change"),
        ("stream rm ORDERS", "[nats://127.0.0.1:", "Really delete"),
    ],
)
def test_each_question_says_where(
    have: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, place: str, question: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "declared.yaml").write_text("streams: [{name: ORDERS, max_msgs: 5}]")
    have(f"context add shop --server {url}", status=0)
    if "--context" in line:
        del have.environ["NATS_URL"]
    screen = start(have, line, place)
    screen.expect_exact(question)
    screen.send("\x03")
    end(screen)


def test_a_question_names_the_domain(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "S", "s", domain="leaf")
    hub_cli(f"context add hub --server {hub_leaf.url}", status=0)
    del hub_cli.environ["NATS_URL"]
    screen = start(hub_cli, "stream rm S --context hub --js-domain leaf", "[hub@leaf] ?")
    screen.expect_exact("Really delete Stream S")
    screen.send("n\r")
    assert end(screen) == 0


def test_a_filter_that_matches_nothing_takes_nothing(have: Cli) -> None:
    screen = start(have, "stream state", "Select a Stream")
    screen.send("ORDRES")
    screen.expect_exact(NOTHING)
    screen.send("\r\x1b[A\x1b[B\r")
    screen.send("\x7f" * 3)
    screen.expect_exact("ORDERS")
    screen.send("\r")
    screen.expect_exact("State for Stream ORDERS")
    assert end(screen) == 0


@pytest.mark.parametrize(
    ("typed", "name"), [("ord", "ORDERS"), ("j", ""), ("über", "ÜBER"), ("BI\x1b[B", "BILLS")]
)
def test_any_list_is_filtered(have: Cli, typed: str, name: str) -> None:
    screen = start(have, "stream state", "Select a Stream")
    screen.send(typed)
    if not name:
        screen.expect_exact(NOTHING)
        screen.send("\x03")
        assert end(screen) == 130
        return
    screen.send("\r")
    screen.expect_exact(f"State for Stream {name}")
    assert end(screen) == 0


def test_a_pasted_name_filters(have: Cli) -> None:
    screen = start(have, "stream state", "Select a Stream")
    paste(screen, "ORDERS\n")
    screen.send("\r")
    screen.expect_exact("State for Stream ORDERS")
    assert end(screen) == 0


@pytest.mark.slow
def test_pasted_answers(cli: Cli) -> None:
    screen = start(cli, "stream add", "Stream Name")
    paste(screen, "PASTED\n")
    screen.send("\r")
    screen.expect_exact("Subjects")
    paste(screen, "one.>\r\ntwo.>,\n\n three.>\n")
    screen.send("\r")
    for question in ("Storage", "Replication", "Retention Policy", "Discard Policy"):
        screen.expect_exact(question)
        screen.send("\r")
    screen.expect_exact("Stream Messages Limit")
    paste(screen, "100\n")  # replaces the default
    screen.send("\r")
    for question in (
        "Per Subject Messages Limit",
        "Total Stream Size",
        "Message TTL",
        "Max Message Size",
        "Duplicate tracking time window",
        "Allow message Roll-ups",
        "Allow message deletion",
        "Allow purging",
    ):
        screen.expect_exact(question)
        screen.send("\r")
    screen.expect_exact("The same without questions")
    assert end(screen) == 0
    config = cli("stream info PASTED --json", status=0).json["config"]
    assert config["subjects"] == ["one.>", "two.>", "three.>"]
    assert config["max_msgs"] == 100
