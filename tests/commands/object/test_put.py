"""`object put`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import js
from tests.support.objects import DATA, put, start
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_stdin_and_stdout(files: Path, cli: Cli) -> None:
    environ = {**os.environ, **cli.environ}
    run = [sys.executable, "-m", "jsctl", "object"]
    subprocess.run(
        [*run, "put", "FILES", "--name", "piped"], input=DATA, env=environ, check=True, capture_output=True
    )
    got = subprocess.run(
        [*run, "get", "FILES", "piped", "-O", "-"], env=environ, check=True, capture_output=True
    )
    assert got.stdout == DATA and got.stderr == b""
    assert "--name" in cli("object put FILES", status=64).err


def test_a_replaced_object_leaves_no_chunks(files: Path, cli: Cli, url: str) -> None:
    put(cli, "a")
    outcome = cli("object put FILES source --name a", status=64)
    assert "Really replace FILES > a" in outcome.err and "--force" in outcome.err
    declined = cli("object put FILES source --name a", answers=[False], status=0)
    assert "nothing was changed" in declined.err
    put(cli, "a", b"short", "--force")
    assert js.info(url, "OBJ_FILES")["state"]["messages"] == 2
    cli("object get FILES a", status=0)
    assert (files / "a").read_bytes() == b"short"


def test_headers_description_and_chunk_size(files: Path, cli: Cli) -> None:
    stored = put(
        cli,
        "a",
        DATA,
        "-H",
        "A: b",
        "-H",
        "A:c",
        "--description",
        "D",
        "--metadata",
        "k=v",
        "--chunk-size",
        "1000",
    )
    assert stored["headers"] == {"A": ["b", "c"]}
    assert (stored["description"], stored["metadata"], stored["chunks"]) == ("D", {"k": "v"}, 300)
    assert "A: b" in cli("object info FILES a", status=0).out
    for size in ("100MB", "0"):
        assert "chunks of" in cli(f"object put FILES source --chunk-size {size}", status=64).err
    assert "K:V" in cli("object put FILES source -H broken", status=64).err


def test_a_full_bucket_keeps_nothing_of_a_put(files: Path, cli: Cli, url: str) -> None:
    cli("object add SMALL --max-bucket-size 1MB", status=0)
    (files / "big").write_bytes(os.urandom(3_000_000))
    outcome = cli("object put SMALL big", status=1)
    assert "maximum bytes exceeded" in outcome.err and len(outcome.err.splitlines()) == 1
    assert js.info(url, "OBJ_SMALL")["state"]["messages"] == 0


@pytest.mark.long
def test_a_killed_put_continues(files: Path, cli: Cli, url: str) -> None:
    (files / "big").write_bytes(os.urandom(60_000_000))
    running = start(cli, "put", "FILES", "big", "--chunk-size", "4096")
    wait_for(lambda: js.info(url, "OBJ_FILES")["state"]["messages"] > 200, "chunks are stored")
    running.kill()
    running.wait()
    before = js.info(url, "OBJ_FILES")["state"]["messages"]
    assert cli("object ls FILES --json", status=0).json == []
    assert cli("object status FILES --json", status=0).json[0]["unfinished"] == 1
    outcome = cli("object put FILES big --chunk-size 4096", status=0)
    assert "An earlier put of " in outcome.err
    state = js.info(url, "OBJ_FILES")["state"]
    assert state["messages"] == 60_000_000 // 4096 + 2
    assert state["first_seq"] == 1 and state["last_seq"] < before + state["messages"]
    cli("object get FILES big -O copy", status=0)
    assert (files / "copy").read_bytes() == (files / "big").read_bytes()


@pytest.mark.slow
def test_a_put_that_broke_off_in_another_state_of_the_file(files: Path, cli: Cli, url: str) -> None:
    """Chunks that are there and differ are removed."""
    (files / "big").write_bytes(DATA * 100)
    running = start(cli, "put", "FILES", "big", "--chunk-size", "4096")
    wait_for(lambda: js.info(url, "OBJ_FILES")["state"]["messages"] > 50, "chunks are stored")
    running.kill()
    running.wait()
    js.ask(url, "STREAM.MSG.DELETE.OBJ_FILES", {"seq": 20})
    outcome = cli("object put FILES big --chunk-size 4096", status=0)
    assert "An earlier put of " in outcome.err
    cli("object get FILES big -O copy", status=0)
    assert (files / "copy").read_bytes() == DATA * 100
    (files / "big").write_bytes(b"x" * 5_000)
    cli("object put FILES big --force", status=0)
    assert cli("object status FILES --json", status=0).json[0]["unfinished"] == 0


@pytest.mark.parametrize("form", ["<(printf piped)", "/dev/stdin", "/proc/self/fd/0"])
def test_a_pipe_has_no_name(form: str, files: Path, cli: Cli) -> None:
    line = f"printf piped | {sys.executable} -m jsctl object put FILES {form}"
    environ = {**os.environ, **cli.environ}
    bare = subprocess.run(
        ["bash", "-c", line], env=environ, capture_output=True, text=True, timeout=30, check=False
    )
    assert bare.returncode == 64 and "specify --name" in bare.stderr, bare
    assert len(bare.stderr.splitlines()) == 1 and not cli("object ls FILES --json", status=0).json
    subprocess.run(
        ["bash", "-c", f"{line} --name n"], env=environ, check=True, timeout=30, capture_output=True
    )
    assert cli("object get FILES n -O -", status=0).out == "piped"
