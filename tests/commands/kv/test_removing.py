"""`kv del`, `kv purge`, `kv compact`, `kv history` and `kv revert` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli


def operations(cli: Cli, key: str) -> list[str]:
    return [one["operation"] for one in cli(["kv", "history", "CONFIG", key, "--json"], status=0).json]


def test_delete_keeps_what_was(config: Cli) -> None:
    assert config("kv del CONFIG user.1 --force", status=0).out == "CONFIG > user.1 was deleted\n"
    assert operations(config, "user.1") == ["PUT", "PUT", "DEL"]
    assert "was deleted at" in config("kv del CONFIG user.1 --force", status=3).err
    assert "not found" in config("kv del CONFIG none --force", status=3).err


def test_purge_removes_what_was(config: Cli) -> None:
    config("kv purge CONFIG user.1 --force", status=0)
    assert operations(config, "user.1") == ["PURGE"]
    assert "key user.1 was purged at" in config("kv get CONFIG user.1", status=3).err
    config("kv purge CONFIG user.2 --force", status=0)
    assert operations(config, "user.2") == ["PURGE"]


@pytest.mark.parametrize(("verb", "count"), [("del", 2), ("purge", 3)])
def test_patterns(config: Cli, verb: str, count: int) -> None:
    dry = config(f"kv {verb} CONFIG '>' --dry-run --json", status=0).json
    assert len(dry["keys"]) == count, "a deleted key has nothing left to delete, but to purge"
    assert "Would" in config(f"kv {verb} CONFIG '>' --dry-run", status=0).out
    questions = config(f"kv {verb} CONFIG '>'", answers=[False], status=0).asked[0]
    assert f"{count} keys of bucket CONFIG (logo, user.1" in questions
    assert config("kv ls CONFIG", status=0).out == "logo\nuser.1\n"
    assert "cannot ask" in config(f"kv {verb} CONFIG 'user.*'", status=64).err
    done = config(f"kv {verb} CONFIG '>' --force", status=0).out
    assert done.startswith(f"{count} keys of bucket CONFIG were")
    assert config("kv ls CONFIG --json", status=0).json == []
    assert "no key matches >" in config(f"kv {verb} CONFIG '>' --force", status=3).err


def test_several_keys(config: Cli) -> None:
    config("kv del CONFIG logo user.1 --force", status=0)
    assert config("kv ls CONFIG --json", status=0).json == []


@pytest.mark.slow
def test_many_keys(cli: Cli, url: str) -> None:
    js.bucket(url, "B")
    js.publish_all(url, ((f"$KV.B.k.{number:04}", b"%d" % number) for number in range(3000)))
    assert len(cli("kv ls B", status=0).out.split()) == 3000
    values = cli("kv get B 'k.*' --json", status=0).json
    assert [one["value"] for one in values] == [str(number) for number in range(3000)]
    cli("kv purge B 'k.*' --force", status=0)
    assert cli("kv ls B --json", status=0).json == []
    assert cli("kv compact B --older 0s --force --json", status=0).json == {
        "bucket": "B",
        "keys": 3000,
        "markers": 3000,
        "messages": 3000,
    }
    assert js.info(url, "KV_B")["state"]["messages"] == 0


def test_a_purge_marker_that_expires(cli: Cli) -> None:
    cli("kv add S --marker-ttl 1s", status=0)
    cli("kv put S a x", status=0)
    cli("kv purge S a --ttl 2s --force", status=0)
    assert cli("kv history S a --json", status=0).json[0]["ttl"] in ("2s", "2")


def test_compact(config: Cli) -> None:
    dry = config("kv compact CONFIG --dry-run --json", status=0).json
    would = "remove the earlier values of 1 deleted key of bucket CONFIG"
    assert dry == {"dry_run": True, "would": would, "bucket": "CONFIG", "keys": 1, "markers": 0}
    questions = config("kv compact CONFIG", answers=[False], status=0).asked[0]
    assert "the earlier values of 1 deleted key of bucket CONFIG" in questions
    config("kv compact CONFIG --force", status=0)
    assert operations(config, "user.2") == ["DEL"], "a new marker stays"
    config("kv compact CONFIG --older 0s --force", status=0)
    assert "key user.2 not found" in config("kv history CONFIG user.2", status=3).err
    assert operations(config, "user.1") == ["PUT", "PUT"]
    assert "Removed 0 messages" in config("kv compact CONFIG --force", status=0).out


def test_history(config: Cli) -> None:
    shown = config("kv history CONFIG user.1", status=0).out.splitlines()
    assert shown[1].split() == ["Key", "Revision", "Op", "Created", "Length", "Value"]
    assert [line.split()[1:3] + line.split()[-1:] for line in shown[2:]] == [
        ["1", "PUT", "Ann"],
        ["2", "PUT", "Bob"],
    ]
    every = config("kv history CONFIG '>' --json", status=0).json
    assert [one["revision"] for one in every] == [1, 2, 3, 4, 5]


def test_revert(config: Cli) -> None:
    question = config("kv revert CONFIG user.1 1", answers=[False], status=0).asked[0]
    assert "to revision 1: Ann (now revision 2: Bob)" in question
    assert config("kv get CONFIG user.1 --raw", status=0).out == "Bob"
    config("kv revert CONFIG user.1 1 --force", status=0)
    assert config("kv get CONFIG user.1 --raw", status=0).out == "Ann"
    config("kv revert CONFIG user.2 3 --force", status=0)
    assert config("kv get CONFIG user.2 --raw", status=0).out == "Cid"
    assert "has no revision 5" in config("kv revert CONFIG user.1 5 --force", status=3).err
    assert "holds no value" in config("kv revert CONFIG user.2 4 --force", status=64).err
    assert "at revision 6 already" in config("kv revert CONFIG user.1 6 --force", status=64).err
    config("kv revert CONFIG none 1 --force", status=3)
