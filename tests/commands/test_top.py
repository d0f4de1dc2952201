"""`top` on a real hub with a leaf node."""

import csv
from pathlib import Path

import pexpect
import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)


def test_one_server_and_all(system: Cli) -> None:
    one = system("top hub-server -r 1 --json", status=0).json
    assert one["server"]["names"] == ["hub-server"] and one["server"]["in_msgs_rate"] == 0
    own = next(row for row in one["connections"] if row["name"] == "jsctl")
    assert own["server"] == "hub-server" and own["account"] == "SYS"
    every = system("top -r 2 -d 100ms --json", status=0).out.splitlines()
    assert len(every) == 2 and '"in_msgs_rate": 0.0' not in every[1]
    assert '"names": ["hub-server", "leaf-server"]' in every[0]


def test_a_file(system: Cli, tmp_path: Path) -> None:
    path = tmp_path / "top.csv"
    system(f"top -o {path} --delimiter ; --subs --sort msgs_to", status=0)
    with path.open() as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert any(row["name"] == "jsctl" and "_INBOX" in row["subjects"] for row in rows)
    assert "2 servers, version" in system("top --output - --raw", status=0).out


def test_a_screen(system: Cli) -> None:
    with system.terminal("top --lookup", columns=80, rows=24) as screen:
        screen.expect_exact(" connections")
        screen.expect_exact("hub-server")
        screen.send("q")
        screen.expect(pexpect.EOF)
        left = screen.before.rpartition("\x1b[?1049l")[2]
        assert "slow consumers" in left and "more such lines" not in left


def test_connections_that_have_ended(system: Cli) -> None:
    closed = system("top -r 1 --sort reason", status=0).out
    assert "Reason" in closed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("top --interval 1ms", "use 100ms or more"),
        ("top --delimiter ,", "needs --output"),
        ("top -o - --delimiter ab", "one character"),
        ("top --sort none", "none"),
    ],
)
def test_wrong_flags(offline_cli: Cli, line: str, words: str) -> None:
    assert words in offline_cli(line, status=64).err


def test_a_missing_server(system: Cli, cli: Cli) -> None:
    assert "did you mean hub-server?" in system("top hub-serve --max-refresh 1", status=3).err
    assert "system account" in cli("top --max-refresh 1 --timeout 1s", status=5).err
