"""Backups and restores that are killed, and those into other domains."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from jsctl.errors import JsctlError
from jsctl.jetstream.backup.files import DATA, MANIFEST, META
from jsctl.jetstream.state import MARK
from tests.support.js import ask, publish, publish_all, stream
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer
from tests.support.stored import stored
from tests.support.waiting import wait_for

SIZE, COUNT = 50_000, 1600
SLOWLY = "--chunk-size 1KB --window-size 1KB"

SERVER = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
"""


@pytest.fixture(scope="module")
def filled_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a server with 80 MB in the stream BIG."""
    folder = tmp_path_factory.mktemp("filled")
    filled = RealServer(folder, SERVER).start()
    try:
        stream(filled.url, "BIG", "big.>")
        publish_all(filled.url, ((f"big.{n % 7}", os.urandom(SIZE)) for n in range(COUNT)))
    finally:
        filled.stop()
    return folder / "server"


@pytest.fixture
def server(tmp_path: Path, filled_store: Path) -> Iterator[RealServer]:
    """A server of this test alone, with a copy of that store."""
    shutil.copytree(filled_store, tmp_path / "server" / "server")
    own = RealServer(tmp_path / "server", SERVER).start()
    try:
        wait_for(lambda: messages(own.url, "BIG") == COUNT, "the stream is not there yet")
        yield own
    finally:
        own.stop()


@pytest.fixture
def own_cli(tmp_path: Path, server: RealServer) -> Cli:
    return Cli(tmp_path / "config", server.url)


def begin(cli: Cli, line: str) -> subprocess.Popen[str]:
    """jsctl as a process of its own."""
    return cli.start(line)


def messages(url: str, name: str) -> int:
    """How many messages there are, -1 without such a stream."""
    try:
        return int(ask(url, f"STREAM.INFO.{name}")["state"]["messages"])
    except JsctlError:
        return -1


def half_way(url: str, name: str, process: subprocess.Popen[str]) -> None:
    """Wait until a restore has made a part of its messages, and stop the process there (SIGSTOP)."""
    wait_for(lambda: messages(url, name) > 0 or process.poll() is not None, "nothing was restored")
    process.send_signal(signal.SIGSTOP)
    assert process.poll() is None, process.communicate()
    assert messages(url, name) < COUNT


def growing(folder: Path) -> bool:
    """Whether a backup is being written in a folder."""
    return any(file.stat().st_size > 100_000 for file in folder.glob(f".jsctl-*/**/{DATA}.partial"))


@pytest.mark.long
def test_a_killed_backup_leaves_no_backup(own_cli: Cli, server: RealServer, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    process = begin(own_cli, f"backup stream BIG {folder} {SLOWLY}")
    wait_for(lambda: growing(tmp_path), "no backup began")
    process.kill()
    process.communicate()
    refused = own_cli(f"backup restore stream {folder} --name B --subjects b", status=3)
    assert "there is no backup" in refused.err
    own_cli(f"backup stream BIG {folder}", status=0)
    assert not list(tmp_path.glob(".jsctl-*"))
    own_cli(f"backup restore stream {folder} --name B --subjects b", status=0)
    assert messages(server.url, "B") == COUNT


@pytest.mark.slow
def test_an_unfinished_backup_of_an_earlier_version(own_cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / MANIFEST).write_text('{"format": 1, "complete": false}')
    refused = own_cli(f"backup restore stream {folder} --name B --subjects b", status=64)
    assert "was not finished" in refused.err
    own_cli(f"backup stream BIG {folder}", status=0)
    assert (folder / META).exists()


@pytest.mark.long
def test_a_killed_replacement_leaves_the_older_backup(own_cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    own_cli(f"backup stream BIG {folder}", status=0)
    process = begin(own_cli, f"backup stream BIG {folder} --force {SLOWLY}")
    wait_for(lambda: growing(tmp_path), "no backup began")
    process.kill()
    process.communicate()
    own_cli(f"backup restore stream {folder} --name B --subjects b", status=0)
    own_cli(f"backup stream BIG {folder} --force", status=0)
    assert [entry.name for entry in tmp_path.glob("*b*")] == ["b"]
    assert not list(tmp_path.glob(".jsctl-*"))


def test_a_full_disk(own_cli: Cli, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk."""
    line = f"ulimit -f 10000; exec {sys.executable} -m jsctl backup stream BIG {tmp_path}/b"
    failed = subprocess.run(
        ["bash", "-c", line],
        env={**os.environ, **own_cli.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert failed.returncode == 1
    assert f"cannot write to {tmp_path}/b: File too large" in failed.stderr
    assert not (tmp_path / "b").exists() and not list(tmp_path.glob(".jsctl-*"))


def test_ctrl_c_leaves_nothing(own_cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    process = begin(own_cli, f"backup stream BIG {folder} {SLOWLY}")
    wait_for(lambda: growing(tmp_path), "no backup began")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert not folder.exists()


@pytest.mark.long
def test_a_restore_that_was_killed_says_so(own_cli: Cli, server: RealServer, tmp_path: Path) -> None:
    own_cli(f"backup stream BIG {tmp_path}/b", status=0)
    process = begin(own_cli, f"backup restore stream {tmp_path}/b --name B --subjects b")
    half_way(server.url, "B", process)
    process.kill()
    process.communicate()
    assert "restore" in ask(server.url, "STREAM.INFO.B")["config"]["metadata"][MARK]
    refused = own_cli(f"backup restore stream {tmp_path}/b --name B --subjects b", status=64)
    assert "--force" in refused.err
    own_cli(f"backup restore stream {tmp_path}/b --name B --subjects b --force", status=0)
    assert stored(server.url, "B") == stored(server.url, "BIG")
    assert MARK not in json.dumps(ask(server.url, "STREAM.INFO.B"))


@pytest.mark.slow
def test_what_is_restored_takes_no_messages_until_it_is_whole(
    own_cli: Cli, server: RealServer, tmp_path: Path
) -> None:
    own_cli(f"backup stream BIG {tmp_path}/b", status=0)
    process = begin(own_cli, f"backup restore stream {tmp_path}/b --name B --subjects b")
    half_way(server.url, "B", process)
    assert "no stream stores b" in own_cli("pub -J b one", status=4).err
    assert "B (unfinished restore or copy)" in own_cli("stream ls", tty=True).out
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert ask(server.url, "STREAM.INFO.B")["config"]["subjects"] == ["b"]
    own_cli("pub -J b one", status=0)
    assert messages(server.url, "B") == COUNT + 1
    assert "unfinished" not in own_cli("stream ls", tty=True).out


@pytest.mark.slow
@pytest.mark.parametrize("of", ["BIG", "EMPTY"])
def test_what_is_newer_than_the_backup_is_named_and_confirmed(
    own_cli: Cli, server: RealServer, tmp_path: Path, of: str
) -> None:
    if of == "EMPTY":
        stream(server.url, of, "empty")
    own_cli(f"backup stream {of} {tmp_path}/b", status=0)
    # A jsctl that gave a stream its subjects at once was killed.
    stream(server.url, "B", "b", metadata={MARK: "restore x"})
    publish(server.url, "b", b"acknowledged", count=2)
    restore = f"backup restore stream {tmp_path}/b --name B --subjects b"
    newer = "left, with 2 messages, 2 of them (1 to 2) newer than the backup"
    for flags, needed in (
        ("", "--force --allow-data-loss"),
        ("--force", "--allow-data-loss"),
        ("--allow-data-loss", "--force"),
    ):
        refused = own_cli(f"{restore} {flags}", status=64)
        assert newer in refused.err and refused.err.endswith(f"use {needed}\n")
    assert own_cli(f"{restore} --dry-run --json", status=0).json["newer_messages"] == 2
    for flag in ("", "--force"):
        declined = own_cli(f"{restore} {flag}", tty=True, answers=[False], status=0)
        assert "nothing was changed" in declined.err
    assert messages(server.url, "B") == 2
    if of == "BIG":
        own_cli(f"{restore} --force --allow-data-loss", status=0)
        assert messages(server.url, "B") == COUNT
    else:
        own_cli(f"{restore} --force", tty=True, answers=[True], status=0)
        assert messages(server.url, "B") == 0


@pytest.mark.slow
def test_subjects_of_another_stream(own_cli: Cli, server: RealServer, tmp_path: Path) -> None:
    own_cli(f"backup stream BIG {tmp_path}/b", status=0)
    refused = own_cli(f"backup restore stream {tmp_path}/b --name B --subjects 'big.1'", status=1)
    assert "overlaps with stream BIG" in refused.err and "--subjects" in refused.err
    assert own_cli("stream ls -n", status=0).out == "BIG\n"


@pytest.mark.slow
def test_ctrl_c_takes_a_restore_back(own_cli: Cli, server: RealServer, tmp_path: Path) -> None:
    own_cli(f"backup stream BIG {tmp_path}/b", status=0)
    process = begin(own_cli, f"backup restore stream {tmp_path}/b --name B --subjects b")
    half_way(server.url, "B", process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert own_cli("stream ls --names", status=0).out == "BIG\n"


@pytest.mark.long
def test_a_backup_that_the_server_aborted_is_not_one(own_cli: Cli, tmp_path: Path) -> None:
    """It waits 5 s for whoever stands still, and then ends with a status of 408."""
    folder = tmp_path / "b"
    process = begin(own_cli, f"backup stream BIG {folder} {SLOWLY}")
    wait_for(lambda: growing(tmp_path), "no backup began")
    process.send_signal(signal.SIGSTOP)
    time.sleep(5.5)  # longer than the server waits
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "the server ended the snapshot early: No Flow Response" in err
    assert not folder.exists()


@pytest.mark.long
def test_server_killed_in_a_backup(own_cli: Cli, server: RealServer, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    process = begin(own_cli, f"backup stream BIG {folder} {SLOWLY}")
    wait_for(lambda: growing(tmp_path), "no backup began")
    server.kill()
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 15
    assert process.returncode == 4, err
    assert "lost the connection" in err and "Traceback" not in err
    assert not folder.exists()


def test_ctrl_c_in_an_account_backup(own_cli: Cli, server: RealServer, tmp_path: Path) -> None:
    stream(server.url, "SMALL", "small")
    process = begin(own_cli, f"backup account {tmp_path}/all")
    wait_for(lambda: growing(tmp_path), "no backup began")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    assert not (tmp_path / "all").exists() and not list(tmp_path.glob(".jsctl-*"))


@pytest.mark.long
def test_server_killed_in_a_restore(own_cli: Cli, server: RealServer, tmp_path: Path) -> None:
    own_cli(f"backup stream BIG {tmp_path}/b", status=0)
    process = begin(own_cli, f"backup restore stream {tmp_path}/b --name B --subjects b")
    half_way(server.url, "B", process)
    server.kill()
    process.send_signal(signal.SIGCONT)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 15
    assert process.returncode == 4, err
    assert "lost the connection" in err and "Traceback" not in err
    server.start()
    own_cli(f"backup restore stream {tmp_path}/b --name B --subjects b --force", status=0)
    assert stored(server.url, "B") == stored(server.url, "BIG")


def test_into_another_domain(hub_cli: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> None:
    stream(hub_leaf.url, "SITE", "site.>", domain="leaf")
    publish_all(hub_leaf.leaf.url_for("acc"), ((f"site.{n}", os.urandom(9000)) for n in range(300)))
    publish(hub_leaf.leaf.url_for("acc"), "site.x")
    hub_cli(f"backup stream SITE {tmp_path}/b --js-domain leaf", status=0)
    assert json.loads((tmp_path / "b" / MANIFEST).read_text())["domain"] == "leaf"
    hub_cli(f"backup restore stream {tmp_path}/b --js-domain hub --subjects 'central.>'", status=0)
    assert stored(hub_leaf.url, "SITE", domain="hub") == stored(hub_leaf.url, "SITE", domain="leaf")
    hub_cli(f"backup restore stream {tmp_path}/b --js-domain leaf --name BACK --subjects back", status=0)
    assert len(stored(hub_leaf.url, "BACK", domain="leaf")) == 301


@pytest.mark.slow
def test_on_a_terminal(own_cli: Cli, tmp_path: Path) -> None:
    screen = own_cli.terminal(f"backup stream BIG {tmp_path}/b")
    screen.expect('Starting backup of Stream "BIG" with 1,600 messages')
    screen.expect('Received .* compressed data in .* chunks for stream "BIG"')
    screen.expect(pexpect.EOF)
    screen.wait()
    assert screen.exitstatus == 0
    again = own_cli.terminal(f"backup stream BIG {tmp_path}/b")
    again.expect("Replace it")
    again.sendline("n")
    again.expect(pexpect.EOF)
    again.wait()
    assert again.exitstatus == 0  # nothing was changed, as was asked
    back = own_cli.terminal(f"backup restore stream {tmp_path}/b --name B --subjects b")
    back.expect('Starting restore of Stream "B" from the backup of Stream "BIG"')
    back.expect('Restored stream "B" in')
    back.expect("Information for Stream B")
    back.expect(pexpect.EOF)
    back.wait()
    assert back.exitstatus == 0
    for one in (screen, again, back):
        one.close()
