"""`kv get`, `kv put`, `kv create` and `kv update` on a real server."""

import os
import subprocess
import sys
from typing import Any

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


def test_an_empty_value_is_one(config: Cli) -> None:
    config(["kv", "put", "CONFIG", "empty", ""], status=0)
    assert config("kv get CONFIG empty --json", status=0).json["value"] == ""


def test_a_dash_reads_stdin(config: Cli) -> None:
    config("kv put CONFIG a -", stdin="from stdin", status=0)
    assert config("kv get CONFIG a --raw", status=0).out == "from stdin"
    config("kv update CONFIG a - 6", stdin="more", status=0)
    assert config("kv get CONFIG a --raw", status=0).out == "more"


def test_a_terminal_gives_no_value(config: Cli) -> None:
    assert "the value is missing; give VALUE" in config("kv put CONFIG a", tty=True, status=64).err


def test_a_value_too_large_is_one_line(config: Cli) -> None:
    refused = config("kv put CONFIG a", stdin="x" * (1 << 23), status=64)
    assert len(refused.err.splitlines()) == 1
    assert "the server takes" in refused.err


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


def test_what_is_not_there_says_why(config: Cli) -> None:
    missing = config("kv get CONFIG user.9", status=3)
    assert missing.out == ""
    assert "key user.9 not found in bucket CONFIG" in missing.err
    deleted = config("kv get CONFIG user.2", status=3).err
    assert "key user.2 was deleted at 20" in deleted
    assert "(revision 4); jsctl kv history CONFIG user.2" in deleted
    assert "a whole token" in config("kv get CONFIG 'user*'", status=3).err
    assert "bucket CONFI not found" in config("kv get CONFI user.1", status=3).err
    assert "did you mean CONFIG?" in config("kv get CONFI user.1", status=3).err
    assert "did you mean user.1?" in config("kv get CONFIG usr.1", status=3).err


def test_patterns(config: Cli) -> None:
    config("kv put CONFIG user.3.mail x@y", status=0)
    assert [one["key"] for one in config("kv get CONFIG 'user.*' --json", status=0).json] == ["user.1"]
    several = config("kv get CONFIG 'user.>' logo --json", status=0).json
    assert {one["key"] for one in several} == {"logo", "user.1", "user.3.mail"}
    assert next(one for one in several if one["key"] == "logo")["value_base64"] == "AP8K"
    assert config("kv get CONFIG 'user.>' --raw", status=0).out == "Bob\nx@y\n"
    assert "CONFIG > user.1 revision: 2" in config("kv get CONFIG 'user.>'", tty=True, status=0).out
    assert "no key matches none.*" in config("kv get CONFIG 'none.*'", status=3).err
    assert "not a valid pattern" in config("kv get CONFIG '>.a'", status=64).err


def test_binary_values_are_dumped(config: Cli) -> None:
    assert "00000000  00 ff 0a" in config("kv get CONFIG logo", tty=True, status=0).out


def test_revisions(config: Cli) -> None:
    assert config("kv get CONFIG user.1 --revision 1 --raw", status=0).out == "Ann"
    assert "has no revision 3 in bucket CONFIG" in config("kv get CONFIG user.1 --revision 3", status=3).err
    assert "holds no value: it was deleted then" in config("kv get CONFIG user.2 --revision 4", status=64).err
    config("kv get CONFIG 'user.*' --revision 1", status=64)


def test_create_takes_new_and_deleted_keys(config: Cli) -> None:
    config("kv create CONFIG user.3 Dan", status=0)
    config("kv create CONFIG user.2 Eve", status=0)
    refused = config("kv create CONFIG user.1 Zed", status=1)
    assert "key user.1 exists already, at revision 2; jsctl kv put replaces it" in refused.err
    assert config("kv get CONFIG user.1 --raw", status=0).out == "Bob"


def test_update_needs_the_revision(config: Cli) -> None:
    refused = config("kv update CONFIG user.1 Zed 1", status=1)
    assert "key user.1 is at revision 2, not 1" in refused.err
    assert config("kv update CONFIG user.1 Zed 2", status=0).out == "CONFIG > user.1 revision: 6\n"
    config("kv update CONFIG new x 0", status=0)
    assert "key none not found" in config("kv update CONFIG none x 3", status=3).err


@pytest.mark.slow
def test_a_key_that_expires(cli: Cli) -> None:
    cli("kv add S --marker-ttl 1s", status=0)
    created = cli("kv create S lock x --ttl 1s", status=0)
    assert created.err == ""
    assert cli("kv ls S --verbose --json", status=0).json[0]["ttl"] in ("1s", "1")
    wait_for(lambda: cli("kv get S lock").status == 3, "the key expires")
    # The marker, too, expires after a second; it says why until then.
    assert any(word in cli("kv get S lock").err for word in ("key lock expired at", "key lock not found"))


@pytest.mark.slow
def test_why_a_key_is_gone(cli: Cli) -> None:
    cli("kv add S --ttl 1s --marker-ttl 1h --history 3", status=0)
    cli("kv put S a x", status=0)
    wait_for(lambda: cli("kv get S a").status == 3, "the key expires")
    assert "key a expired at" in cli("kv get S a", status=3).err
    (marker,) = cli("kv history S a --json", status=0).json
    assert (marker["operation"], marker["reason"]) == ("PURGE", "MaxAge")
    assert "PURGE (MaxAge)" in cli("kv history S a", status=0).out


def test_ttls_that_cannot_be(cli: Cli, config: Cli) -> None:
    assert "whole seconds" in config("kv create CONFIG a x --ttl 100ms", status=64).err
    assert "--marker-ttl 1m allows it" in config("kv create CONFIG a x --ttl 5s", status=1).err
    cli("kv add S --marker-ttl 1h", status=0)
    assert "warning: it stays 1h0m0s" in cli("kv create S a x --ttl 5s", status=0).err


def test_without_direct_get(cli: Cli, url: str) -> None:
    js.bucket(url, "B", allow_direct=False, max_msgs_per_subject=3)
    for number in range(5):
        cli(f"kv put B k.{number} {number}", status=0)
    cli("kv put B k.0 again", status=0)
    assert cli("kv get B k.0 --raw", status=0).out == "again"
    assert [one["value"] for one in cli("kv get B '>' --json", status=0).json] == [
        "again",
        "1",
        "2",
        "3",
        "4",
    ]
    assert len(cli("kv ls B", status=0).out.split()) == 5
    assert [one["value"] for one in cli("kv history B 'k.*' --json", status=0).json][-1] == "again"
    assert len(cli("kv export B", status=0).out.splitlines()) == 6


def test_who_may_only_read_directly(tmp_path: Any) -> None:
    from tests.support.servers import RealServer

    config = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts { A: { jetstream: enabled, users: [
  { user: all, password: all }
  { user: reads, password: reads, permissions: { publish: [
    "$JS.API.STREAM.INFO.KV_B", "$JS.API.DIRECT.GET.KV_B.>", "$JS.API.DIRECT.GET.KV_B"] } }
] } }
"""
    server = RealServer(tmp_path, config).start()
    try:
        js.bucket(server.url_for("all"), "B")
        js.publish(server.url_for("all"), "$KV.B.k", b"v")
        cli = Cli(tmp_path / "config", server.url_for("reads"))
        assert cli("kv get B k --raw", status=0).out == "v"
        assert cli("kv get B '>' --raw", status=0).out == "v\n"
        denied = cli("kv put B k x", status=5)
        assert len(denied.err.splitlines()) == 1
    finally:
        server.stop()
