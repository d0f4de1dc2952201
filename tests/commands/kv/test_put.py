"""`kv put`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.run import Cli


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
