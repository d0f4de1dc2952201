"""The README's tour, pasted from the top to the bottom into a shell on a terminal."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support import spark_home
from tests.support.processes import children
from tests.support.readme import README
from tests.support.run import Terminal
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.timeout(420)]

TOUR = README.read_text().split("## A tour\n")[1].split("\n## ")[0]
BLOCKS = re.findall(r"```sh\n(.*?)```", TOUR, re.DOTALL)
DIFFERENT = ("jsctl diff", "--dry-run")
"""Lines that may exit with 2: they show a difference."""


def commands() -> Iterator[str]:
    """Each line of the tour; a here document with its command."""
    lines = iter(line for block in BLOCKS for line in block.splitlines())
    for line in lines:
        whole = [line]
        if match := re.search(r"<<'(\w+)'", line):
            for rest in lines:
                whole.append(rest)
                if rest == match[1]:
                    break
        yield "\n".join(whole)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / ".venv").symlink_to(sys.prefix)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("NATS_")}
    environ |= {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "TERM": "xterm",
        "PS1": "",
        # Compiles queries, as it does for whoever follows the tour.
        "SPARK_SUBMIT_OPTS": os.environ["SPARK_SUBMIT_OPTS"].replace(spark_home.INTERPRETED, ""),
    }
    child = pexpect.spawn(
        "bash",
        ["--norc", "--noprofile", "--noediting"],
        cwd=tmp_path,
        env=environ,
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=180,  # Spark
        echo=False,
    )
    child.sendline("export PS1= PS2=")
    yield child
    child.sendline("jsctl server stop tour-hub")
    child.sendline("exit")
    child.expect(pexpect.EOF, timeout=30)
    child.close(force=True)


def test_every_line_of_the_tour_works(shell: Terminal, tmp_path: Path) -> None:
    outputs = {}
    for number, line in enumerate(commands()):
        shell.sendline(line)
        shell.sendline(f"echo status-{number}=$?")
        shell.expect(rf"status-{number}=(\d+)")
        assert isinstance(shell.match, re.Match)
        status, output = int(shell.match[1]), shell.before or ""
        allowed = (0, 2) if any(word in line for word in DIFFERENT) else (0,)
        assert status in allowed, f"{line}\n{output}"
        outputs[line] = output
    by_start = {line[:24]: output for line, output in outputs.items()}
    assert "LOGS_0" in by_start["jsctl diff -f logs.yaml"[:24]]
    query = next(output for line, output in outputs.items() if "GROUP BY country" in line)
    assert re.search(r"nl\W+100", query), query
    assert not (tmp_path / "tour").exists()
    wait_for(lambda: not children(tmp_path), "a server is left")
    contexts = tmp_path / "config" / "nats" / "context"
    assert list(contexts.iterdir()) == []
