"""The README's first line and its tour, pasted into a shell on a terminal, away from the clone: the wheel is
installed instead of it. It needs a package index."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.packaging.conftest import ROOT, Dist
from tests.support.processes import children
from tests.support.readme import README
from tests.support.run import Terminal
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

TOUR = README.read_text().split("## A tour\n")[1].split("\n## ")[0]
BLOCKS = re.findall(r"```sh\n(.*?)```", TOUR, re.DOTALL)
DIFFERENT = ("jsctl diff", "--dry-run")
"""Lines that may exit with 2: they show a difference."""

WITH_SPARK = {
    "export stream": "pip install",
    "export reports": "pip install",
    "export query": "no folder reports",
}
"""Lines that need Spark, and what they say without it."""


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


FIRST = re.findall(r"```sh\n(.*?)\n```", README.read_text().split("## Start\n")[1], re.DOTALL)[0]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Terminal]:
    mine = ("NATS_", "JSCTL_", "SPARK_", "PYSPARK_", "PYTEST_")  # such as the quick Spark of other tests
    environ = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    environ |= {
        "HOME": str(tmp_path),
        "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip")),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "TERM": "xterm",
        "PS1": "",
        "NATS_URL": "nats://127.0.0.1:1",  # which the tour unsets
    }
    child = pexpect.spawn(
        "bash",
        ["--norc", "--noprofile", "--noediting"],
        cwd=tmp_path,
        env=environ,
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=300,  # Spark
        echo=False,
    )
    child.sendline("export PS1= PS2=")
    yield child
    child.sendline("jsctl server stop tour-hub")
    child.sendline("exit")
    child.expect(pexpect.EOF, timeout=30)
    child.close(force=True)


@pytest.mark.parametrize("extras", ["", pytest.param("[spark]", marks=pytest.mark.spark)])
def test_every_line_works(extras: str, shell: Terminal, dist: Dist, tmp_path: Path) -> None:
    assert "install -q '.[spark]' && " in FIRST
    install = FIRST.replace("'.[spark]'", f"'{dist.wheel}{extras}'").replace("python3", sys.executable)
    shell.sendline(install if extras else f"{install} --no-spark")
    shell.sendline("echo status-first=$?")
    shell.expect(r"status-first=(\d+)")
    assert isinstance(shell.match, re.Match)
    assert shell.match[1] == "0", shell.before
    assert str(ROOT) not in (shell.before or "").partition("jsctl demo")[2]
    outputs = {}
    for number, line in enumerate(commands()):
        shell.sendline(line)
        shell.sendline(f"echo status-{number}=$?")
        shell.expect(rf"status-{number}=(\d+)")
        assert isinstance(shell.match, re.Match)
        status, output = int(shell.match[1]), shell.before or ""
        said = [text for words, text in WITH_SPARK.items() if words in line and not extras]
        allowed = (1, 3) if said else (0, 2) if any(word in line for word in DIFFERENT) else (0,)
        if "jsctl doctor" in line and "nobody pulls" in output.lower():  # on a slow machine, as the text says
            allowed = (1,)
        assert status in allowed and all(text in output for text in said), f"{line}\n{output}"
        outputs[line] = output
    by_start = {line[:24]: output for line, output in outputs.items()}
    assert "LOGS_0" in by_start["jsctl diff -f logs.yaml"[:24]]
    query = next(output for line, output in outputs.items() if "GROUP BY country" in line)
    assert not extras or re.search(r"nl\W+100", query), query
    assert not (tmp_path / "tour").exists()
    wait_for(lambda: not children(tmp_path), "a server is left")
    contexts = tmp_path / "config" / "nats" / "context"
    assert list(contexts.iterdir()) == []
