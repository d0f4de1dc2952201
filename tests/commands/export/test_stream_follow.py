"""`jsctl export stream` over time: what goes missing meanwhile, servers that come back, two runs at once."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.commands.export.test_stream import fill, sequences
from tests.commands.export.test_stream_stopped import processes, start
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark

ALONE = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'


def test_deletions_fail_an_export_that_says_so(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to} --incremental --fail-on-deleted"
    fill(url, 20)
    cli(line, status=0)
    fill(url, 20)
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 30})
    failed = cli(line, status=1)
    assert failed.err == (
        "jsctl: error: 1 message of ORDERS was deleted between 21 and 40; leave --fail-on-deleted out"
        " to read what is left\n"
    )
    assert sequences(to / "ORDERS") == list(range(1, 21))
    done = cli(line.replace(" --fail-on-deleted", ""), status=0)
    assert done.out.startswith("exported 19 messages (") and ", deleted 1, lost 0, in " in done.out
    assert sequences(to / "ORDERS") == [n for n in range(1, 41) if n != 30]


def test_of_some_subjects_what_is_missing_is_not_known(
    cli: Cli, url: str, spark: Any, tmp_path: Path
) -> None:
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to} --incremental --subject ORDERS.1.x --no-fail-on-data-loss"
    fill(url, 30)
    cli(line, status=0)
    fill(url, 30)
    js.ask(url, "STREAM.PURGE.ORDERS", {"seq": 41})
    done = cli(line, status=0)
    assert done.err == "jsctl: ORDERS dropped up to 10 messages before they were read\n"
    assert ", deleted not counted, lost up to 10, in " in done.out


@pytest.mark.long
def test_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", ALONE).start()
    to = tmp_path / "out"
    cli = Cli(tmp_path / "config", server.url)
    fill(server.url, 20)
    process = start(cli, "ORDERS", "--to", str(to), "--follow", "--every", "200ms", "--json")
    log: list[str] = []
    try:
        assert process.stderr
        wait_for((to / "ORDERS").exists, "nothing was exported", 120)
        log.append(process.stderr.readline().decode())
        server.kill()
        log.append(process.stderr.readline().decode())
        server.start()
        wait_for(lambda: js.is_up(server.url), "the server did not start")
        fill(server.url, 10)
        wait_for(lambda: len(sequences(to / "ORDERS")) == 30, "messages are missing", 60)
        log.append(process.stderr.readline().decode())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        server.stop()
    assert (process.returncode, err) == (0, b"")
    done = json.loads(out)
    assert (done["exported"], done["lost"], done["deleted"]) == (30, 0, 0)
    assert (done["streams"][0]["first"], done["streams"][0]["last"]) == (1, 30)
    assert sequences(to / "ORDERS") == list(range(1, 31))
    output = ["following; Ctrl-C ends it", "jsctl: trying again: ", "jsctl: continuing"]
    assert [line[: len(begin)] for line, begin in zip(log, output, strict=True)] == output


def test_follow_on_a_terminal_until_ctrl_c_and_no_second_run_meanwhile(
    cli: Cli, url: str, spark: Any, tmp_path: Path
) -> None:
    fill(url, 20)
    to = tmp_path / "out"
    flags = f"--to {to} --follow --every 200ms --no-fail-on-data-loss"
    screen = cli.terminal(f"export stream ORDERS {flags}", columns=90)
    screen.timeout = 120
    try:
        screen.expect_exact("20 messages (191 B) so far, deleted 0, lost 0")
        for flags in ("", "--incremental", "--force", "--incremental --follow", "--format csv"):
            second = cli(f"export stream ORDERS --to {to} {flags}", status=64)
            assert second.err.count("\n") == 1, second.err
            other = (
                "holds parquet"
                if "csv" in flags
                else f"another export writes to {to}; wait until it has ended"
            )
            assert other in second.err
        outcome = cli(["export", "query", "--from", str(to), "SELECT count(*) AS n FROM ORDERS", "--json"])
        assert outcome.json == [{"n": 20}]
        fill(url, 10)
        js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 5})
        screen.expect_exact("30 messages (291 B) so far")
        screen.sendintr()
        screen.expect_exact("exported 30 messages (291 B) to")
        screen.wait()
    finally:
        screen.close(force=True)
    assert screen.exitstatus == 0
    assert sequences(to / "ORDERS") == list(range(1, 31))
    assert screen.pid and not processes(screen.pid)


@pytest.mark.long
def test_after_follow_comes_what_comes_after_it(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """Ctrl-C ends --follow; the comparison runs undisturbed, and then the lock and the JVM are gone."""
    fill(url, 20)
    to = tmp_path / "out"
    process = start(cli, "ORDERS", "--to", str(to), "--follow", "--every", "200ms", "--verify", "--json")
    try:
        assert process.stderr
        assert process.stderr.readline() == b"following; Ctrl-C ends it\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert json.loads(out)["streams"][0]["verified"]["same"]
    wait_for(lambda: not processes(process.pid), "a process is left")
    cli(f"export stream ORDERS --to {to} --incremental", status=0)
