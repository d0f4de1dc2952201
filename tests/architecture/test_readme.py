"""The README is true: what is generated is as generated, every `jsctl` line in it parses."""

import re

from tests.contract.test_commands import parse
from tests.support.readme import PARTS, README, rendered

TEXT = README.read_text()
LINES = [
    line.strip().removeprefix("$ ")
    for block in re.findall(r"```(?:sh|console)\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if re.match(r"\s*(\$ )?jsctl ", line)
]


def test_generated_parts_are_new() -> None:
    for name in PARTS:
        assert f"<!-- {name}: generated -->" in TEXT
    assert rendered(TEXT) == TEXT, "run python -m tests.support.readme"


def test_command_lines_parse() -> None:
    assert LINES
    for line in LINES:
        parse(line)


def test_there_are_two_commands_to_start_with() -> None:
    start = TEXT.split("## Start")[1].split("\n## ")[0]
    commands = re.findall(r"```sh\n(.*?)\n```", start, re.DOTALL)
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)
    assert commands[0].endswith("jsctl demo")
    assert commands[1].endswith("pytest")
