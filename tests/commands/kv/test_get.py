"""`kv get`."""

from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_a_missing_key_says_why(config: Cli) -> None:
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
    assert "has no value: it was deleted then" in config("kv get CONFIG user.2 --revision 4", status=64).err
    config("kv get CONFIG 'user.*' --revision 1", status=64)


@pytest.mark.slow
def test_why_a_key_is_gone(cli: Cli) -> None:
    cli("kv add S --ttl 1s --marker-ttl 1h --history 3", status=0)
    cli("kv put S a x", status=0)
    wait_for(lambda: cli("kv get S a").status == 3, "the key expires")
    assert "key a expired at" in cli("kv get S a", status=3).err
    (marker,) = cli("kv history S a --json", status=0).json
    assert (marker["operation"], marker["reason"]) == ("PURGE", "MaxAge")
    assert "PURGE (MaxAge)" in cli("kv history S a", status=0).out


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
