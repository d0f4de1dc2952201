"""Every line of the cheat sheets is a comment or a command line that parses."""

from pathlib import Path

import pytest

import jsctl.cheats
from tests.contract.test_commands import parse
from tests.support.run import Cli

FILES = sorted(Path(jsctl.cheats.__file__).parent.glob("*.txt"))
LINES = [(file.stem, line) for file in FILES for line in file.read_text().splitlines() if line]


@pytest.mark.parametrize(("topic", "line"), LINES)
def test_lines_parse(topic: str, line: str) -> None:
    if not line.startswith("# "):
        parse(line)


def test_cheat(offline_cli: Cli) -> None:
    shown = offline_cli("cheat", status=0).out
    assert all(file.stem in shown for file in FILES)
    assert "jsctl stream add" in offline_cli("cheat streams", status=0).out
    assert offline_cli("cheat streams --json", status=0).json["topic"] == "streams"
    assert "choose one of" in offline_cli("cheat nothing", status=3).err
