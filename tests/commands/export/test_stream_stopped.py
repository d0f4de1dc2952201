"""`jsctl export stream`, killed and interrupted."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.export.test_stream import fill, sequences
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark


def start(cli: Cli, *args: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "jsctl", "export", "stream", *args],
        env={**os.environ, **cli.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.long
def test_kill_9_and_again(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "out"
    fill(url, 26_000)  # more than what one process reads and hands over
    line = f"export stream ORDERS --to {to} --incremental --json"
    cli(f"{line} --to-seq 1000", status=0)
    process = start(cli, "ORDERS", "--to", str(to), "--incremental")
    try:
        wait_for(lambda: any(to.glob(".staging/*/ORDERS")), "nothing was staged", 120)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(sequences(to / "ORDERS")) in (1000, 26_000)
    cli(line, status=0)
    assert sequences(to / "ORDERS") == list(range(1, 26_001))
    assert not (to / ".staging").exists()


@pytest.mark.long
def test_interrupted_leaves_nothing(cli: Cli, url: str, tmp_path: Path) -> None:
    fill(url, 26_000)
    to = tmp_path / "out"
    process = start(cli, "ORDERS", "--to", str(to), "--headers")
    try:
        wait_for(lambda: any(to.glob(".staging/*/ORDERS")), "nothing was staged", 120)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
    assert not to.exists()
    wait_for(lambda: not processes(process.pid), "a process is left")  # workers follow the JVM


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("line", ["export stream ORDERS --headers --to {to}", "export reports --to {to}"])
def test_a_signal_does_not_wait_for_spark_to_start(
    line: str, number: int, status: int, cli: Cli, url: str, tmp_path: Path
) -> None:
    fill(url, 100)
    to, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    process = cli.start(line.format(to=to), environ={"TMPDIR": str(temporary)}, start_new_session=True)
    try:
        wait_for(lambda: any(temporary.glob("jsctl-spark-*/spark.log")), "Spark does not start", 60)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)  # Spark starts in more on a busy machine
        assert process.returncode == status, (out, err)
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: not processes(process.pid), "a process is left")
    assert not any(temporary.iterdir()) and not to.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    "line", ["export stream ORDERS --to {}", "export reports --to {}", "import {} --stream ORDERS"]
)
def test_a_second_ctrl_c_does_not_wait_for_a_store(cli: Cli, url: str, line: str) -> None:
    fill(url, 100)
    with socket.create_server(("127.0.0.1", 0)) as store:  # it never answers
        place = f"hdfs://127.0.0.1:{store.getsockname()[1]}/out"
        process = cli.start(line.format(place), start_new_session=True)
        try:
            store.settimeout(60)
            held, _ = store.accept()
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=10)  # the grace of the first one is 15 s
            held.close()
        finally:
            process.kill()
            process.communicate()
    assert (process.returncode, out, err.strip()) == (130, "", "")
    wait_for(lambda: not processes(process.pid), "a process is left")


def processes(session: int) -> list[str]:
    """Command lines of what still runs in a session."""
    shown = subprocess.run(
        ["ps", "-o", "args=", "-s", str(session)], capture_output=True, text=True, check=False
    )
    return [line for line in shown.stdout.splitlines() if "defunct" not in line]
