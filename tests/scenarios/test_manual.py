"""Every line of the manual, as a reader would paste it into a shell, with the files beside it; and the Python
and SQL of its pages about Spark.

A page begins with the network and the stream of the topic `start`, on free ports.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pexpect
import pytest

from jsctl import manual
from jsctl.testing import Network
from tests.support.run import Terminal

pytestmark = pytest.mark.timeout(600)


class Block(NamedTuple):
    """A block of code of a page."""

    language: str
    text: str

    @property
    def path(self) -> str:
        """The file that it is, as its first line says."""
        named = re.match(r"# (\S+\.\w+)\n", self.text)
        return named[1] if named else ""


def blocks(topic: str) -> list[Block]:
    found = re.findall(r"^```(\w*)\n(.*?)^```", manual.read_topic(topic), re.DOTALL | re.MULTILINE)
    return [Block(language, text) for language, text in found]


SPARK = ("export", "backfills", "import", "spark")
OF_CLONE = ("configuration", "contributing")
"""Topics whose lines install and check a clone, as `.ci/run` and `tests/architecture/test_lint.py` do."""
TOPICS = [
    topic
    for topic in manual.TOPICS
    if topic not in OF_CLONE and any(block.language == "sh" for block in blocks(topic))
]
ALONE = ("start", "networks")
"""Topics that begin without a network."""

ORDERS = blocks("start")[1].text
BEFORE = {
    "streams": "jsctl stream rm ORDERS --force",
    "messages": "",
    "consumers": "jsctl consumer rm ORDERS NEW --force",
    "contexts": "jsctl auth operator add X && jsctl auth account add A --defaults"
    " && jsctl auth user add u A --defaults --credential ~/prod.creds",
    "objects": "mkdir site && echo '{}' | tee orders.json site/index.html",
    "servers": "jsctl audit gather --context system --output audit.zip",
    "apply": "mkdir streams",
    "domains": "jsctl kv rm CONFIG --force --missing-ok",
    "scripts": "jsctl kv add CONFIG",
    "shell": "echo 'stream ls' > lines",
    "export": "jsctl kv add CONFIG && jsctl kv put CONFIG a 1 && jsctl object add FILES",
    "import": "jsctl stream add COPY --subjects 'COPY.>' --defaults"
    " && jsctl export stream ORDERS --to orders",
}
"""What a page takes for granted."""

ENDLESS = re.compile(
    r"--watch|--follow|^jsctl report --replay|--record| graph |^jsctl sub 'ORDERS"
    r"|^jsctl (events|watch|exporter --context|counter watch|top|server watch)"
)
"""Lines that run until ctrl-C, or until `q` on a screen."""

BESIDE = re.compile(r"^jsctl (reply|service serve)")
"""Lines for another terminal."""

STATUSES = {
    "jsctl diff": (0, 2),
    "jsctl report --fail-on": (0, 1),
    "jsctl doctor": (0, 1),
    "jsctl audit analyze": (0, 1),
    "jsctl bench compare": (0, 1),
    "jsctl kv diff": (0, 2),
    "jsctl alert diff": (0, 2),
    "jsctl consumer wait": (0, 4),
    "jsctl stream edit ORDERS --max-age 30d --dry-run": (2,),
    "jsctl context validate --connect": (1, 4, 5),
}
"""How lines may end that say something with their status."""

ELSEWHERE = ("spark.example.net", "jsctl auth account push", "jsctl shell\n", "jsctl spark warm-up")
"""Lines that need a host that is not there, a person, or minutes; other tests have these."""


def lines(text: str) -> Iterator[str]:
    """The command lines of a block, each with the lines that it continues on."""
    yield from (line.split("   #")[0].rstrip() for line in text.replace("\\\n", "").splitlines() if line)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Terminal]:
    work = tmp_path / "work"
    work.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("NATS_", "XDG_"))}
    environ |= {"HOME": str(tmp_path), "TERM": "xterm", "PS1": "", "PAGER": "", "EDITOR": "true"}
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    bash = ["--norc", "--noprofile", "--noediting"]
    child = pexpect.spawn(
        "bash", bash, cwd=work, env=environ, dimensions=(24, 80), encoding="utf-8", timeout=180, echo=False
    )
    child.sendline("export PS1= PS2=")
    yield child
    child.sendintr()
    child.sendline("kill $(jobs -p); wait")  # the lines of BESIDE, which a server that stops does not end
    child.sendline("jsctl server stop hub; jsctl server stop local; jsctl server network down shop --force")
    child.sendline("exit")
    child.expect(pexpect.EOF, timeout=60)
    child.close(force=True)


def run(shell: Terminal, line: str) -> None:
    """Run a line, and look at how it ends."""
    if any(word in line + "\n" for word in ELSEWHERE):
        return
    allowed: tuple[int, ...] = next((one for start, one in STATUSES.items() if line.startswith(start)), (0,))
    if re.search(r"server run|network up", line):
        line += " --port 0"
    if line.startswith("jsctl exporter --context"):
        line += " --listen 127.0.0.1:0"
    if BESIDE.match(line):
        shell.sendline(f"{line} > beside.log 2>&1 &")
        shell.sendline("until grep -q . beside.log; do sleep 0.1; done")
        line = "true"
    if line.startswith("jsctl stream view") and "--follow" not in line:
        line += " | cat"  # asks for the next page otherwise
    if ENDLESS.search(line):
        line = f"timeout --foreground --preserve-status -s INT 4 {line}"
        allowed = (*allowed, 130, 128 + signal.SIGINT)
    shell.sendline(f"{line}; echo status=$?")
    shell.expect(r"status=(\d+)")
    assert isinstance(shell.match, re.Match)
    assert int(shell.match[1]) in allowed, f"{line}\n{shell.before}"


def marks(topic: str) -> list[pytest.MarkDecorator]:
    """A walk through a topic takes as long as a reader's; that of `start` is the quickest."""
    needs_spark = [pytest.mark.spark] if topic in SPARK else []
    return [*needs_spark, pytest.mark.slow if topic == "start" else pytest.mark.long]


@pytest.mark.parametrize("topic", [pytest.param(topic, marks=marks(topic)) for topic in TOPICS])
def test_the_lines_of_a_topic_work(topic: str, shell: Terminal, tmp_path: Path) -> None:
    if topic not in ALONE:
        run(shell, blocks("start")[0].text.splitlines()[0])
        for line in lines(ORDERS):
            run(shell, line)
        run(shell, BEFORE.get(topic) or "true")
    for block in blocks(topic):
        if block.path:
            file = tmp_path / "work" / block.path
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text)
    for block in blocks(topic):
        for line in lines(block.text) if block.language == "sh" else ():
            run(shell, line)


IN_SPARK = {
    "spark": "kv add CONFIG\nstream add READINGS --subjects 'readings.>' --defaults --js-domain leaf",
    "import": "kv add CONFIG\nstream add COPY --subjects 'COPY.>' --defaults",
    "kafka": "stream add LOGS_EU --subjects 'logs.>' --defaults",
}
"""Topics with Python for Spark, and the lines for what it takes for granted."""

SCHEMA = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'


def write_program(topic: str, url: str, folder: Path) -> str:
    """Return the Python and SQL of a page as one program, for a server and a folder of ours."""
    parts: list[str] = []
    for block in blocks(topic):
        if block.language == "python":
            parts.append(block.text)
        elif block.language == "sql":
            parts += [f"spark.sql({statement!r}).show()" for statement in block.text.split(";")]
    parts += ["for query in spark.streams.active:", "    query.stop()"]
    return "\n".join(parts).replace("nats://localhost:4222", url).replace("/shared/", f"{folder}/")


def test_all_pages_with_python_for_spark_are_run() -> None:
    """Those about clusters are in `tests/spark/session/test_recipes.py`."""
    with_spark = {
        topic
        for topic in manual.TOPICS
        for block in blocks(topic)
        if block.language == "sql" or (block.language == "python" and "spark" in block.text)
    }
    assert with_spark - {"clusters", "contributing"} == IN_SPARK.keys()


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("topic", IN_SPARK)
def test_the_python_and_sql_of_a_topic_work(topic: str, tmp_path: Path) -> None:
    with Network("hub-leaf") as network:
        for line in [*lines(ORDERS), *(f"jsctl {line}" for line in IN_SPARK[topic].splitlines())]:
            if not line.startswith("jsctl context"):
                network.jsctl(line.removeprefix("jsctl "), context="hub")
        (tmp_path / "order.avsc").write_text(SCHEMA)
        program = write_program(topic, network.url("hub"), tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=network.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if topic == "import":
            assert network.jsctl("kv get CONFIG a --raw", context="hub") == "1"
            assert '"messages": 100' in network.jsctl("stream info COPY --json", context="hub")
