"""Every line of the cheat sheets is a comment or a command line that parses."""

import re
from pathlib import Path

import pytest

import jsctl.cheats
from jsctl.jetstream.declared import load
from tests.contract.test_commands import parse

FILES = sorted(Path(jsctl.cheats.__file__).parent.glob("*.txt"))
BLOCKS = [(file.stem, block) for file in FILES for block in file.read_text().strip().split("\n\n")]
"""A info page is blocks: a comment that says what the lines do, then the lines; or a file as a comment."""

COMMANDS = [
    (topic, line) for topic, block in BLOCKS for line in block.splitlines() if not line.startswith("#")
]
SAMPLES = [block for _, block in BLOCKS if re.match(r"# \S+\.yaml:\n", block)]


@pytest.mark.parametrize("topic", sorted({topic for topic, _ in COMMANDS}))
def test_command_lines_parse(topic: str) -> None:
    for line in (line for info_page, line in COMMANDS if info_page == topic):
        parse(line)


def test_a_comment_precedes_its_commands() -> None:
    for topic, block in BLOCKS:
        if block in SAMPLES:
            continue
        comment, *lines = block.splitlines()
        assert re.match(r"# [A-Z]", comment), (topic, block)
        assert lines and not any(line.startswith("#") for line in lines), (topic, block)


def test_sample_files_can_be_read() -> None:
    assert SAMPLES
    for sample in SAMPLES:
        text = "\n".join(line.removeprefix("#   ") for line in sample.splitlines()[1:])
        assert load.load([("sample", text)], {}).streams
