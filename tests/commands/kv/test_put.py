"""`kv put`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


def pipe(cli: Cli, *args: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """jsctl as a process, with bytes for stdin and stdout."""
    return subprocess.run(
        [sys.executable, "-m", "jsctl", *args],
        input=stdin,
        capture_output=True,
        env={**os.environ, **cli.environ},
        check=False,
    )


def test_put_and_get(config: Cli) -> None:
    assert config("kv put CONFIG user.3 Dan", status=0).out == "CONFIG > user.3 revision: 6\n"
    shown = config("kv get CONFIG user.3", status=0).out.splitlines()
    assert shown[0].startswith("CONFIG > user.3 revision: 6 created @ 20")
    assert shown[1:] == ["", "Dan", ""]
    document = config("kv get CONFIG user.3 --json", status=0).json
    assert (document["value"], document["revision"], document["operation"]) == ("Dan", 6, "PUT")
    assert config("kv put CONFIG user.3 Eve --json", status=0).json == {
        "bucket": "CONFIG",
        "key": "user.3",
        "revision": 7,
    }


@pytest.mark.slow
def test_values_are_byte_for_byte(config: Cli) -> None:
    for value in (b"", b"\x00\xff\x1b\r\n\n", os.urandom(1 << 20)):
        assert pipe(config, "kv", "put", "CONFIG", "raw", stdin=value).returncode == 0
        assert pipe(config, "kv", "get", "CONFIG", "raw", "--raw").stdout == value


def test_an_empty_value_is_a_value(config: Cli) -> None:
    config(["kv", "put", "CONFIG", "empty", ""], status=0)
    assert config("kv get CONFIG empty --json", status=0).json["value"] == ""


def test_an_empty_argument_is_no_value(config: Cli) -> None:
    """As in the `nats` tool: stdin has it, but on a terminal."""
    config(["kv", "put", "CONFIG", "a", ""], stdin="put", status=0)
    assert config("kv get CONFIG a --raw", status=0).out == "put"
    config(["kv", "update", "CONFIG", "a", "", "6"], stdin="update", status=0)
    assert config("kv get CONFIG a --raw", status=0).out == "update"
    config(["kv", "create", "CONFIG", "b", ""], stdin="create", status=0)
    assert config("kv get CONFIG b --raw", status=0).out == "create"
    config(["kv", "put", "CONFIG", "b", ""], tty=True, status=0)
    assert config("kv get CONFIG b --raw", status=0).out == ""


@pytest.mark.parametrize("line", ["kv put CONFIG x", "kv put CONFIG x ''", "object put O --name n"])
def test_the_list_of_a_loop_is_no_value(line: str, config: Cli, tmp_path: Path) -> None:
    config("object add O", status=0)
    (tmp_path / "list").write_text("a\nb\n")
    with (tmp_path / "list").open("rb") as file:
        os.lseek(file.fileno(), 2, os.SEEK_SET)
        with config.start(line, stdin=file) as process:
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 64 and "</dev/null" in errors and errors.count("\n") == 1
    assert config("kv get CONFIG x", status=3) and not config("object ls O --json", status=0).json


def test_a_dash_reads_stdin(config: Cli) -> None:
    config("kv put CONFIG a -", stdin="from stdin", status=0)
    assert config("kv get CONFIG a --raw", status=0).out == "from stdin"
    config("kv update CONFIG a - 6", stdin="more", status=0)
    assert config("kv get CONFIG a --raw", status=0).out == "more"


def test_a_terminal_gives_no_value(config: Cli) -> None:
    assert "the value is missing; specify VALUE" in config("kv put CONFIG a", tty=True, status=64).err


def test_a_value_too_large_is_one_line(config: Cli) -> None:
    refused = config("kv put CONFIG a", stdin="x" * (1 << 23), status=64)
    assert len(refused.err.splitlines()) == 1
    assert "the server accepts" in refused.err


def test_keys_that_look_like_flags(config: Cli) -> None:
    config("kv put CONFIG -- --raw -5", status=0)
    assert config("kv get CONFIG --raw -- --raw", status=0).out == "-5"
    config("kv del CONFIG --force -- --raw", status=0)
    config("kv put CONFIG a -5", status=0)
    assert config("kv get CONFIG a --raw", status=0).out == "-5"
    assert "No such option" in config("kv put CONFIG a -x", status=64).err


@pytest.mark.parametrize("key", ["a b", "a..b", ".a", "a.", "a*", ">", "ü", "a\x1b", ""])
def test_new_keys_are_those_of_every_client(config: Cli, key: str) -> None:
    for verb in ("put", "create"):
        refused = config(["kv", verb, "CONFIG", key, "x"], status=64)
        assert "is not a valid key; use letters, digits" in refused.err
        assert len(refused.err.splitlines()) == 1


def test_all_valid_characters(config: Cli) -> None:
    key = "Az09-/_=.x"
    config(["kv", "put", "CONFIG", key, "x"], status=0)
    assert config(["kv", "get", "CONFIG", key, "--raw"], status=0).out == "x"


@pytest.mark.slow
def test_a_ttl_in_a_bucket_with_a_history(cli: Cli) -> None:
    """The server raises it to that of markers where a key may have several values, and only there; when it
    ends, the value before it is back."""
    cli("kv add ONE --marker-ttl 1m", status=0)
    cli("kv add MANY --marker-ttl 2s --history 3", status=0)
    assert cli("kv put ONE a x --ttl 1s", status=0).err == ""
    assert cli("kv put MANY b x --ttl 3s", status=0).err == ""
    cli("kv put MANY a old", status=0)
    err = cli("kv put MANY a new --ttl 1s", status=0).err
    assert "it expires after 2s" in err and "the value before it, revision 2, is that of the key again" in err
    wait_for(lambda: cli("kv get ONE a").status == 3, "it does not expire within the TTL")
    wait_for(lambda: cli("kv get MANY a --raw").out == "old", "the older value is not back")
    cli("kv del MANY a --force", status=0)
    assert "before it" not in cli("kv put MANY a last --ttl 2s", status=0).err


def test_an_older_value_that_expires_first_is_not_back(cli: Cli) -> None:
    cli("kv add MANY --marker-ttl 2s --history 4", status=0)
    said = "the value before it, revision {}, is"
    assert said.format(1) not in cli("kv put MANY a one --ttl 5m", status=0).err
    assert "before it" not in cli("kv put MANY a two --ttl 6m", status=0).err
    assert said.format(2) in cli("kv put MANY a three --ttl 1m", status=0).err
    assert said.format(2) in cli("kv put MANY a four --ttl 3m", status=0).err
    assert "before it" not in cli("kv put MANY a five --ttl 7m", status=0).err


@pytest.mark.slow
def test_a_mirror_keeps_what_its_origin_keeps(cli: Cli, url: str, tmp_path: Path) -> None:
    cli("kv add CONFIG --marker-ttl 1s --history 4", status=0)
    cli("kv add COPY --mirror CONFIG", status=0)
    cli("kv add SHORT --mirror CONFIG --history 2", status=0)
    cli("kv add ALL --source CONFIG", status=0)
    configs = {name: js.info(url, f"KV_{name}")["config"] for name in ("COPY", "SHORT", "ALL")}
    assert [config["max_msgs_per_subject"] for config in configs.values()] == [4, 2, 1]
    assert all(config["allow_msg_ttl"] for config in configs.values())
    file = tmp_path / "buckets.yaml"  # what a file leaves out stays so
    file.write_text("buckets: [{name: D, mirror: CONFIG}]")
    assert "bucket D: keys that expire in KV_CONFIG stay in this copy" in cli(f"diff -f {file}", status=2).err
    file.write_text("buckets: [{name: D, mirror: CONFIG, extra: {allow_msg_ttl: true}}]")
    assert "warning" not in cli(f"diff -f {file}", status=2).err
    cli("kv put CONFIG a x --ttl 1s", status=0)
    wait_for(lambda: js.info(url, "KV_COPY")["state"]["messages"], "nothing is mirrored")
    wait_for(lambda: all(cli(f"kv get {name} a").status == 3 for name in configs), "one keeps what expired")


def test_a_value_is_stored_only_at_a_revision(config: Cli) -> None:
    assert (
        "key user.1 is at revision 2, not 1" in config("kv put CONFIG user.1 Z --if-revision 1", status=1).err
    )
    assert config("kv put CONFIG user.1 Z --if-revision 2 --json", status=0).json["revision"] == 6
    config("kv put CONFIG new x --if-revision 0", status=0)
    assert "not 0" in config("kv put CONFIG new x --if-revision 0", status=1).err
    assert "key none not found" in config("kv put CONFIG none x --if-revision 3", status=3).err
    config("kv put CONFIG new x --if-revision -1", status=64)


def test_what_a_full_bucket_refuses_says_what_to_do(cli: Cli, tmp_path: Path) -> None:
    cli("kv add B --max-bucket-size 100 --max-value-size 50", status=0)
    cli("kv put B k value", status=0)
    large = cli(f"kv put B k {'x' * 90}", status=1).err
    assert "(10054); jsctl kv edit B --max-value-size SIZE raises the bucket's limit" in large
    full = cli(f"kv put B other {'x' * 30}", status=1).err
    assert "(10077); jsctl kv info B shows its limits; jsctl kv edit B --max-bucket-size SIZE" in full
    cli("object add O --max-bucket-size 1KB", status=0)
    (tmp_path / "file").write_bytes(b"x" * 5000)
    assert "jsctl object edit O --max-bucket-size SIZE" in cli(f"object put O {tmp_path}/file", status=1).err
