"""`jsctl object` on a real server."""

import base64
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow

DATA = os.urandom(300_000)


@pytest.fixture
def files(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and a bucket FILES."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    cli("object add FILES", status=0)
    return folder


def put(cli: Cli, name: str, data: bytes = DATA, *flags: str) -> Any:
    """Store an object; its JSON."""
    Path("source").write_bytes(data)
    return cli(["object", "put", "FILES", "source", "--name", name, "--json", *flags], status=0).json


def store_info(url: str, key: str, **record: Any) -> None:
    """Store the description of an object as any client may."""
    subject = f"$O.FILES.M.{base64.urlsafe_b64encode(key.encode()).decode()}"
    whole = {"name": key, "bucket": "FILES", "nuid": "N", "size": 0, "chunks": 0, "digest": "", **record}
    js.publish(url, subject, json.dumps(whole).encode())


@pytest.mark.parametrize("size", [0, 1, 131_072, 131_073, 3_000_000])
def test_what_is_put_is_got(size: int, files: Path, cli: Cli) -> None:
    data = os.urandom(size)
    stored = put(cli, "an object", data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    assert stored["digest"] == f"SHA-256={digest}"
    assert (stored["size"], stored["chunks"]) == (size, -(-size // 131_072))
    written = cli("object get FILES 'an object' --json", status=0).json
    assert (files / "an object").read_bytes() == data
    assert written["path"] == str(files / "an object")


def test_nothing_is_listed_in_words(cli: Cli) -> None:
    assert cli("object ls", status=0).out == "No Object Store buckets found\n"
    cli("object add FILES", status=0)
    assert cli("object ls FILES", status=0).out == "No entries found\n"


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
    assert "chunks of" in cli("object put FILES source --chunk-size 100MB", status=64).err
    assert "K:V" in cli("object put FILES source -H broken", status=64).err


def test_get_asks_before_a_file_is_replaced(files: Path, cli: Cli) -> None:
    put(cli, "a")
    (files / "a").write_text("mine")
    assert "Really replace a by" in cli("object get FILES a", status=64).err
    assert (files / "a").read_text() == "mine"
    cli("object get FILES a --force", status=0)
    assert (files / "a").read_bytes() == DATA
    (files / "folder").mkdir()
    cli("object get FILES a -O folder", status=0)
    assert (files / "folder/a").read_bytes() == DATA


@pytest.mark.parametrize(
    "name", ["../out", "/tmp/x/../../out", "a/b", "-f", " ", "é\u0301", "a\x1b[2Jb", "..", "."]
)
def test_hostile_names(name: str, files: Path, cli: Cli) -> None:
    put(cli, name)
    assert [one["name"] for one in cli("object ls FILES --json", status=0).json] == [name]
    assert "\x1b" not in cli("object ls FILES", tty=True, status=0).out
    cli(["object", "get", "FILES", "-O", "safe", "--", name], status=0)
    assert (files / "safe").read_bytes() == DATA
    (files / "safe").unlink()
    outside = set(files.parent.rglob("*")) - set(files.rglob("*"))
    cli(["object", "get", "FILES", "--", name])
    cli("object sync FILES . --down", status=0)
    assert set(files.parent.rglob("*")) - set(files.rglob("*")) == outside
    cli(["object", "rm", "FILES", "--force", "--", name], status=0)
    assert cli("object ls FILES --json", status=0).json == []


def test_a_name_that_is_no_file_needs_output(files: Path, cli: Cli) -> None:
    put(cli, "..")
    assert "--output" in cli("object get FILES ..", status=64).err


def test_a_damaged_object_leaves_the_file_as_it_was(files: Path, cli: Cli, url: str) -> None:
    stored = put(cli, "a")
    (files / "a").write_text("mine")
    js.ask(url, "STREAM.MSG.DELETE.OBJ_FILES", {"seq": 2})
    assert "it has 168,928 bytes of 300,000" in cli("object get FILES a --force", status=1).err
    store_info(url, "b", nuid=stored["nuid"], size=168_928, chunks=2, digest="SHA-256=AAAA")
    assert "its SHA-256 is another one" in cli("object get FILES b", status=1).err
    assert (files / "a").read_text() == "mine"
    assert sorted(path.name for path in files.iterdir()) == ["a", "source"]


def test_descriptions_that_no_client_writes(files: Path, cli: Cli, url: str) -> None:
    for record in ({"size": "x"}, {"name": "other"}, {"nuid": "a b"}, {"headers": 7}):
        store_info(url, "a", **record)
        for verb in ("get", "info", "rm --force"):
            outcome = cli(f"object {verb} FILES a", status=1)
            assert "damaged" in outcome.err and len(outcome.err.splitlines()) == 1


def test_links(files: Path, cli: Cli) -> None:
    put(cli, "a")
    assert cli("object link FILES l FILES a --json", status=0).json["options"]["link"] == {
        "bucket": "FILES",
        "name": "a",
    }
    cli("object link FILES ll FILES l", status=0)
    cli("object get FILES ll", status=0)
    assert (files / "ll").read_bytes() == DATA
    cli("object link FILES whole FILES", status=0)
    assert "link to bucket FILES" in cli("object get FILES whole", status=1).err
    assert "is an object, not a link" in cli("object link FILES a FILES l", status=1).err
    assert "not found" in cli("object link FILES x FILES nothing", status=3).err
    cli("object link FILES l FILES ll", status=0)
    assert "endless chain of links" in cli("object get FILES l --force", status=1).err
    listed = cli("object ls FILES", status=0).out
    assert "FILES > a" not in listed and "FILES > ll" in listed


def test_rm(files: Path, cli: Cli, url: str) -> None:
    for name in "abc":
        put(cli, name)
    assert "Would remove FILES > a" in cli("object rm FILES a b --dry-run", status=0).out
    assert "--force" in cli("object rm FILES a", status=64).err
    assert cli("object rm FILES a b --force --json", status=0).json[1]["removed"]
    assert [one["name"] for one in cli("object ls FILES --json", status=0).json] == ["c"]
    assert "not found" in cli("object get FILES a", status=3).err
    put(cli, "a", b"again")
    assert "with 2 objects" in cli("object rm FILES --dry-run", status=0).out
    cli("object rm FILES", answers=[True], status=0)
    assert "not found" in cli("object ls FILES", status=3).err


def test_buckets(files: Path, cli: Cli, url: str) -> None:
    flags = "--ttl 1h --max-bucket-size 1MB --description D --storage memory --metadata a=b --compress"
    cli(f"object add B {flags}", status=0)
    config = js.info(url, "OBJ_B")["config"]
    assert config["max_age"] == 3_600_000_000_000 and config["max_bytes"] == 1 << 20
    assert config["subjects"] == ["$O.B.C.>", "$O.B.M.>"] and config["discard"] == "new"
    assert config["allow_rollup_hdrs"] and config["allow_direct"]
    assert "exists already" in cli("object add FILES", status=0).out
    assert "object edit" in cli("object add FILES --ttl 1h", status=1).err
    planned = cli("object edit B --ttl 2h --max-bucket-size 2MB --dry-run --json", status=2).json
    assert [change["key"] for change in planned] == ["ttl", "max_bucket_size"], "the words of the flags"
    assert cli("object edit B --ttl 1h --dry-run", status=0).out == "No difference in configuration\n"
    cli("object edit B --ttl 2h --metadata c=d --force", status=0)
    config = js.info(url, "OBJ_B")["config"]
    assert config["max_age"] == 7_200_000_000_000
    assert {"a": "b", "c": "d"}.items() <= config["metadata"].items()
    assert cli("object ls --json", status=0).json == ["B", "FILES"]
    assert "D" in cli("object ls", status=0).out
    assert "Bucket Name: B" in cli("object info B", status=0).out
    put(cli, "a")
    row = next(row for row in cli("object status --json", status=0).json if row["bucket"] == "FILES")
    assert (row["objects"], row["unfinished"]) == (1, 0)


def test_a_full_bucket_keeps_nothing_of_a_put(files: Path, cli: Cli, url: str) -> None:
    cli("object add SMALL --max-bucket-size 1MB", status=0)
    (files / "big").write_bytes(os.urandom(3_000_000))
    outcome = cli("object put SMALL big", status=1)
    assert "maximum bytes exceeded" in outcome.err and len(outcome.err.splitlines()) == 1
    assert js.info(url, "OBJ_SMALL")["state"]["messages"] == 0


def test_seal(files: Path, cli: Cli) -> None:
    put(cli, "a")
    assert "--force" in cli("object seal FILES", status=64).err
    assert "has been sealed" in cli("object seal FILES --force", status=0).out
    assert "sealed" in cli("object put FILES source --name b", status=1).err
    assert "sealed already" in cli("object seal FILES", status=0).err


def test_watch(files: Path, cli: Cli) -> None:
    put(cli, "a")
    put(cli, "b")
    cli("object rm FILES b --force", status=0)
    cli("object link FILES l FILES a", status=0)
    lines = cli("object watch FILES --count 3", status=0).out.splitlines()
    assert "PUT FILES > a: 293 KiB in 3 chunks" in lines[0]
    assert "DEL FILES > b" in lines[1] and "LINK FILES > l" in lines[2]
    records = [
        json.loads(line) for line in cli("object watch FILES --count 3 --json", status=0).out.splitlines()
    ]
    assert [record["name"] for record in records] == ["a", "b", "l"]


def test_sync(files: Path, cli: Cli) -> None:
    site = files / "site"
    (site / "sub").mkdir(parents=True)
    (site / "index").write_text("1")
    (site / "sub/page").write_bytes(DATA)
    (site / ".jsctl-get-left").write_text("")
    assert "--up" in cli("object sync FILES site", status=64).err
    planned = cli("object sync FILES site --up --dry-run --json", status=0).json
    assert [change["name"] for change in planned["changes"]] == ["index", "sub/page"]
    assert cli("object ls FILES --json", status=0).json == []
    cli("object sync FILES site --up", status=0)
    again = cli("object sync FILES site --up --json", status=0).json
    assert (again["changes"], again["same"]) == ([], 2)
    cli("object sync FILES copy --down", status=0)
    assert (files / "copy/sub/page").read_bytes() == DATA
    (site / "index").write_text("2")
    (site / "sub/page").unlink()
    assert "Really replace 1 file and remove 1" in cli("object sync FILES site --up --delete", status=64).err
    cli("object sync FILES site --up --delete --force", status=0)
    cli("object sync FILES copy --down --delete --force", status=0)
    assert sorted(p.name for p in (files / "copy").rglob("*") if p.is_file()) == ["index"]
    assert (files / "copy/index").read_text() == "2"


def test_a_link_in_the_folder_does_not_lead_out(files: Path, cli: Cli) -> None:
    put(cli, "out/file")
    (files / "copy").mkdir()
    (files / "copy/out").symlink_to(files.parent)
    outcome = cli("object sync FILES copy --down", status=0)
    assert "leads out of the folder" in outcome.err
    assert not (files.parent / "file").exists()


def start(cli: Cli, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "jsctl", "object", *args],
        env={**os.environ, **cli.environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_killed_put_goes_on(files: Path, cli: Cli, url: str) -> None:
    (files / "big").write_bytes(os.urandom(60_000_000))
    running = start(cli, "put", "FILES", "big", "--chunk-size", "4096")
    wait_for(lambda: js.info(url, "OBJ_FILES")["state"]["messages"] > 200, "chunks are stored")
    running.kill()
    running.wait()
    before = js.info(url, "OBJ_FILES")["state"]["messages"]
    assert cli("object ls FILES --json", status=0).json == []
    assert cli("object status FILES --json", status=0).json[0]["unfinished"] == 1
    outcome = cli("object put FILES big --chunk-size 4096", status=0)
    assert "was interrupted before" in outcome.err
    state = js.info(url, "OBJ_FILES")["state"]
    assert state["messages"] == 60_000_000 // 4096 + 2
    assert state["first_seq"] == 1 and state["last_seq"] < before + state["messages"]
    cli("object get FILES big -O copy", status=0)
    assert (files / "copy").read_bytes() == (files / "big").read_bytes()


def test_a_put_that_broke_off_in_another_state_of_the_file(files: Path, cli: Cli, url: str) -> None:
    """Chunks that are there and differ are removed."""
    (files / "big").write_bytes(DATA * 100)
    running = start(cli, "put", "FILES", "big", "--chunk-size", "4096")
    wait_for(lambda: js.info(url, "OBJ_FILES")["state"]["messages"] > 50, "chunks are stored")
    running.kill()
    running.wait()
    js.ask(url, "STREAM.MSG.DELETE.OBJ_FILES", {"seq": 20})
    outcome = cli("object put FILES big --chunk-size 4096", status=0)
    assert "was interrupted before" in outcome.err
    cli("object get FILES big -O copy", status=0)
    assert (files / "copy").read_bytes() == DATA * 100
    (files / "big").write_bytes(b"x" * 5_000)
    cli("object put FILES big --force", status=0)
    assert cli("object status FILES --json", status=0).json[0]["unfinished"] == 0


def test_unfinished_puts_are_removed(files: Path, cli: Cli, url: str) -> None:
    put(cli, "a")
    js.publish(url, "$O.FILES.C.LEFT", b"x")
    assert "Would remove 1 unfinished put" in cli("object rm FILES --unfinished --dry-run", status=0).out
    cli("object rm FILES --unfinished --force", status=0)
    assert js.info(url, "OBJ_FILES")["state"]["messages"] == 4


def test_a_killed_get_leaves_the_old_file(files: Path, cli: Cli) -> None:
    put(cli, "big", os.urandom(80_000_000))
    (files / "big").write_text("mine")
    running = start(cli, "get", "FILES", "big", "--force")
    wait_for(lambda: list(files.glob(".jsctl-get-*")), "the get has begun")
    running.kill()
    running.wait()
    assert (files / "big").read_text() == "mine"
    cli("object get FILES big --force", status=0)
    assert (files / "big").stat().st_size == 80_000_000
    assert not list(files.glob(".jsctl-*"))
