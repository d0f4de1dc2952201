"""`object get`."""

import base64
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import js
from tests.support.objects import DATA, put, start, store_info
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for


@pytest.mark.parametrize("size", [0, 1, 131_072, 131_073, 3_000_000])
def test_objects_are_read_as_they_were_stored(size: int, files: Path, cli: Cli) -> None:
    data = os.urandom(size)
    stored = put(cli, "an object", data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    assert stored["digest"] == f"SHA-256={digest}"
    assert (stored["size"], stored["chunks"]) == (size, -(-size // 131_072))
    written = cli("object get FILES 'an object' --json", status=0).json
    assert (files / "an object").read_bytes() == data
    assert written["path"] == str(files / "an object")


def test_get_asks_before_a_file_is_replaced(files: Path, cli: Cli) -> None:
    put(cli, "a")
    (files / "a").write_text("mine")
    assert "Really replace a with" in cli("object get FILES a", status=64).err
    assert (files / "a").read_text() == "mine"
    cli("object get FILES a --force", status=0)
    assert (files / "a").read_bytes() == DATA
    (files / "folder").mkdir()
    cli("object get FILES a -O folder", status=0)
    assert (files / "folder/a").read_bytes() == DATA


def test_a_name_that_no_file_can_have_needs_output(files: Path, cli: Cli) -> None:
    put(cli, "..")
    assert "--output" in cli("object get FILES ..", status=64).err


def test_a_damaged_object_leaves_the_file_as_it_was(files: Path, cli: Cli, url: str) -> None:
    stored = put(cli, "a")
    (files / "a").write_text("mine")
    js.ask(url, "STREAM.MSG.DELETE.OBJ_FILES", {"seq": 2})
    assert "it has 168,928 bytes of 300,000" in cli("object get FILES a --force", status=1).err
    store_info(url, "b", nuid=stored["nuid"], size=168_928, chunks=2, digest="SHA-256=AAAA")
    assert "its SHA-256 differs" in cli("object get FILES b", status=1).err
    assert (files / "a").read_text() == "mine"
    assert sorted(path.name for path in files.iterdir()) == ["a", "source"]


@pytest.mark.long
def test_a_killed_get_leaves_the_old_file(files: Path, cli: Cli) -> None:
    put(cli, "big", os.urandom(80_000_000))
    (files / "big").write_text("mine")
    running = start(cli, "get", "FILES", "big", "--force")
    wait_for(lambda: list(files.glob(".jsctl-*")), "the get has begun")
    running.kill()
    running.wait()
    assert (files / "big").read_text() == "mine"
    cli("object get FILES big --force", status=0)
    assert (files / "big").stat().st_size == 80_000_000
    assert not list(files.glob(".jsctl-*"))


def test_a_large_object_comes_through_a_consumer_that_is_removed(files: Path, cli: Cli, url: str) -> None:
    data = os.urandom(20_000_000)
    put(cli, "big", data)
    assert "CONSUMER.MSG.NEXT.OBJ_FILES" in cli("object get FILES big --trace", status=0).err
    assert (files / "big").read_bytes() == data
    assert not js.ask(url, "CONSUMER.NAMES.OBJ_FILES")["consumers"]


def test_a_login_that_may_not_create_consumers_gets_large_objects(tmp_path: Path) -> None:
    deny = '["$JS.API.CONSUMER.>"]'
    config = """listen: "127.0.0.1:{port}"
    jetstream { store_dir: "{store}" }
    authorization { users: [{ user: a, password: a, permissions: { publish: { deny: %s } } }] }"""
    server = RealServer(tmp_path / "server", config % deny).start()
    try:
        cli = Cli(tmp_path, server.url_for("a"))
        source, target = tmp_path / "source", tmp_path / "target"
        source.write_bytes(os.urandom(20_000_000))
        cli("object add FILES", status=0)
        cli(f"object put FILES {source} --name big", status=0)
        assert not cli(f"object get FILES big -O {target}", status=0).err
        assert target.read_bytes() == source.read_bytes()
    finally:
        server.stop()


@pytest.mark.slow
def test_a_reader_of_stdout_may_take_longer_than_the_timeout(files: Path, cli: Cli) -> None:
    put(cli, "big", data := os.urandom(40_000_000))
    line = [sys.executable, "-m", "jsctl", "object", "get", "FILES", "big", "-O", "-", "--timeout", "500ms"]
    environ = {**os.environ, **cli.environ}
    with subprocess.Popen(line, 0, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout
        start = running.stdout.read(1)
        time.sleep(1)  # what is tried
        out, err = running.communicate()
    assert (start + out, err) == (data, b"")
