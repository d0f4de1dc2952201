"""`server report jetstream` on a real hub with a leaf node."""

import re
from pathlib import Path

import pytest

from tests.support.emulator import Watched
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.tables import read_table


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    """The system account of the hub and leaf."""
    cli = Cli(tmp_path / "system", hub_leaf.url)
    cli("stream add A --subjects a", status=0)
    cli("pub a hello -J", status=0)
    return Cli(tmp_path / "system", hub_leaf.system_url)


def test_the_table_of_the_guide(system: Cli) -> None:
    out = system("server report jetstream", tty=True, width=160, status=0).out
    rows = {row["Server"]: row for row in read_table(out, "JetStream Summary")}
    assert list(rows["hub-server"])[:11] == [
        "Server",
        "Cluster",
        "Domain",
        "Streams",
        "Consumers",
        "Messages",
        "Bytes",
        "Memory",
        "File",
        "API Req",
        "API Err",
    ]
    counts = ("Cluster", "Domain", "Streams", "Consumers", "Messages")
    assert [rows["hub-server"][title] for title in counts] == ["", "hub", "1", "0", "1"]
    assert [rows["leaf-server"][title] for title in counts] == ["leaf-server", "leaf", "0", "0", "0"]
    assert [rows[""][title] for title in counts] == ["", "", "1", "0", "1"], "the footer"


@pytest.mark.parametrize("words", ["server report js", "srv rep jsz", "sys report jetstream"])
def test_aliases(system: Cli, words: str) -> None:
    assert "JetStream Summary" in system(words, status=0).out


def order(system: Cli, flags: str) -> list[str]:
    return re.findall(r"^(\w+-server)", system(f"server report {flags}", status=0).out, re.M)


def test_sorting(system: Cli) -> None:
    assert order(system, "jetstream") == ["hub-server", "leaf-server"]
    assert order(system, "jetstream --sort msgs") == ["leaf-server", "hub-server"]
    assert order(system, "--reverse jetstream --sort msgs") == ["hub-server", "leaf-server"]
    assert order(system, "jetstream --sort msgs -R") == ["hub-server", "leaf-server"]
    assert "none" not in order(system, "jetstream --sort name")


def test_only_some_servers(system: Cli) -> None:
    assert order(system, "jetstream --host leaf-server") == ["leaf-server"]
    assert len(order(system, "jetstream 1")) == 1


def test_an_account(system: Cli) -> None:
    out = system("server report jetstream --account ACC --host hub-server", status=0).out
    assert "JetStream Summary for Account ACC" in out
    assert re.search(r"hub-server +hub +1 +0 +1 ", out), out
    # A server without the account tells of the one that it has.
    out = system("server report jetstream --account NONE --host hub-server", status=0).out
    assert re.search(r"hub-server +hub +0 +0 +0 ", out), out


def test_leaders(system: Cli) -> None:
    assert system("server report jetstream --leaders", status=0).out.count("RAFT Leader Report") == 2


def test_json(system: Cli) -> None:
    replies = system("server report jetstream --json", status=0).json
    assert {reply["server"]["name"] for reply in replies} == {"hub-server", "leaf-server"}


def test_without_the_system_account(cli: Cli) -> None:
    failed = cli("server report jetstream", status=5)
    assert "login of the system account" in failed.err and failed.err.count("\n") == 1


def test_watch(system: Cli) -> None:
    watched = Watched(system.terminal("server report jetstream --watch 200ms"))
    watched.until("JetStream Summary")
    watched.press("/no-such-server\r")
    watched.until("rows matches /no-such-server")
    watched.press("\x03")
    assert watched.end() == 0
    assert not watched.screen.alternate
