"""Ctrl-C while the server is silent: nothing waits for it longer than a moment, a second one ends at once."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.support import js
from tests.support.processes import suspend
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port
from tests.support.waiting import wait_for

CONFIG = 'listen: "127.0.0.1:{port}"\nhttp: "127.0.0.1:%d"\njetstream { store_dir: "{store}" }\n'

LINES = {
    "sub --stream S --all": "hello",
    "sub --stream S --new": "Subscribing to",
    "sub --stream S --all --direct": "hello",
    "kv watch B": "value",
    "object watch O": "file.txt",
    "reply x --echo": "Listening",
    "service serve demo": "waits for requests",
    "bench sub x --processes 0": "waiting for the first message",
    "bench sub x": "waiting for the first message",
    "pub other hello --count 1000000000": "",
}
"""What a command writes once it is there; the last one is when the server has 10,000 messages of it."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[RealServer, int]]:
    http = free_port()
    server = RealServer(tmp_path, CONFIG % http).start()
    cli = Cli(tmp_path, server.url)
    js.stream(server.url, "S", "s", allow_direct=True)
    js.publish(server.url, "s", b"hello")
    cli("kv add B", status=0)
    cli("kv put B key value", status=0)
    cli("object add O", status=0)
    (tmp_path / "file.txt").write_text("x")
    cli(f"object put O {tmp_path}/file.txt --name file.txt", status=0)
    try:
        yield server, http
    finally:
        assert server.process
        os.kill(server.process.pid, signal.SIGCONT)
        server.stop()


TWICE = ("sub --stream S --all", "kv watch B", "reply x --echo", "bench sub x")


@pytest.mark.long
def test_interrupts(server: tuple[RealServer, int], tmp_path: Path) -> None:
    real, http = server
    environ = {**os.environ, **Cli(tmp_path, real.url).environ, "PYTHONUNBUFFERED": "1"}
    with ExitStack() as stack:
        children = []
        lines = [*LINES, *TWICE]
        for number, line in enumerate(lines):
            file = stack.enter_context((tmp_path / f"{number}.out").open("w"))
            child = subprocess.Popen(
                [sys.executable, "-m", "jsctl", *line.split(), "--timeout", "60s"],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
            stack.callback(end, child)
            children.append(child)

        def are_there() -> bool:
            texts = [(tmp_path / f"{number}.out").read_text() for number in range(len(lines))]
            with urllib.request.urlopen(f"http://127.0.0.1:{http}/varz") as answer:
                received = json.load(answer)["in_msgs"]
            return received > 10_000 and all(
                str(word) in text for word, text in zip(map(LINES.get, lines), texts, strict=True)
            )

        wait_for(are_there, "a command is not there", seconds=40)
        assert real.process
        suspend(real.process.pid)
        for index, (line, child) in enumerate(zip(lines, children, strict=True)):
            started = time.monotonic()
            child.send_signal(signal.SIGINT)
            if index >= len(LINES):
                with suppress(subprocess.TimeoutExpired):
                    child.wait(0.3)
                started = time.monotonic()
                child.send_signal(signal.SIGINT)
            child.wait(15)
            spent = time.monotonic() - started
            output = (tmp_path / f"{index}.out").read_text()
            # The second one may come while Python ends, which then has no handler: a shell sees 130, too.
            assert child.returncode in (0, 130, -signal.SIGINT), (line, output)
            assert spent < 3.5, (line, spent)
            assert "Traceback" not in output and "bug in" not in output, (line, output)


def end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    child.wait()
