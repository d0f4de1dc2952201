"""`--codec` of the verbs of `jsctl kv`: keys are stored encoded, and everything shows them decoded."""

import json
import os
import subprocess
import sys

import pytest

from tests.support import js
from tests.support.run import Cli

ANN, BOB = "Ann Lee.mail", "Bob.mail"
STORED = {ANN: "QW5uIExlZQ.bWFpbA", BOB: "Qm9i.bWFpbA"}


@pytest.fixture
def people(cli: Cli, url: str) -> Cli:
    """P, with two revisions of one key and one of another, encoded as base64."""
    js.bucket(url, "P", max_msgs_per_subject=5)
    for key, value in ((ANN, b"1"), (ANN, b"2"), (BOB, b"3")):
        js.publish(url, f"$KV.P.{STORED[key]}", value)
    return cli


def test_values_are_read(people: Cli) -> None:
    assert people(["kv", "get", "P", ANN, "--codec", "base64", "--raw"], status=0).out == "2"
    shown = people("kv get P '*.mail' --codec base64 --json", status=0).json
    assert [(entry["key"], entry["revision"]) for entry in shown] == [(ANN, 2), (BOB, 3)]
    assert people("kv ls P --codec base64", status=0).out == f"{ANN}\n{BOB}\n"
    assert people("kv ls P --codec base64 --at 0s --json", status=0).json == [ANN, BOB]
    assert people("kv ls P", status=0).out.split() == sorted(STORED.values())
    history = people(["kv", "history", "P", ANN, "--codec", "base64", "--json"], status=0).json
    assert [(entry["key"], entry["revision"]) for entry in history] == [(ANN, 1), (ANN, 2)]
    watched = people("kv watch P --count 2 --codec base64 --json", status=0).out.splitlines()
    assert [json.loads(line)["key"] for line in watched] == [ANN, BOB]
    waited = people(["kv", "wait", "P", BOB, "--codec", "base64", "--json"], status=0).json
    assert waited["key"] == BOB


def test_values_are_stored(people: Cli) -> None:
    stored = people(["kv", "put", "P", "Cid?", "4", "--codec", "base64", "--json"], status=0).json
    assert stored == {"bucket": "P", "key": "Cid?", "revision": 4}
    assert people("kv get P Q2lkPw --raw", status=0).out == "4"
    refused = people(["kv", "create", "P", ANN, "x", "--codec", "base64"], status=1).err
    assert f"key {ANN} already exists at revision 2" in refused
    assert f"jsctl kv put P '{ANN}' --codec base64" in refused
    people(["kv", "update", "P", BOB, "5", "3", "--codec", "base64"], status=0)
    people(["kv", "revert", "P", BOB, "3", "--codec", "base64", "--force"], status=0)
    assert people(["kv", "get", "P", BOB, "--codec", "base64", "--raw"], status=0).out == "3"
    assert "did you mean Bob.mail?" in people("kv get P Bob.mael --codec base64", status=3).err


def test_keys_are_deleted(people: Cli) -> None:
    planned = people("kv del P '*.mail' --codec base64 --dry-run --json", status=0).json
    assert planned["keys"] == [ANN, BOB]
    deleted = people(["kv", "del", "P", ANN, "--codec", "base64", "--force", "--json"], status=0).json
    assert deleted["keys"] == [ANN]
    gone = people(["kv", "get", "P", ANN, "--codec", "base64"], status=3).err
    assert f"key {ANN} was deleted at" in gone
    assert f"jsctl kv history P '{ANN}' --codec base64" in gone
    people("kv purge P '>' --codec base64 --force", status=0)
    assert people("kv ls P", status=0).out == ""
    assert "no key matches Zed.*" in people("kv get P 'Zed.*' --codec base64", status=3).err


def test_a_key_that_the_codec_has_not_made(people: Cli, url: str) -> None:
    js.publish(url, "$KV.P.user.1", b"x")
    for line in ("ls P", "get P '>'", "export P", "del P '>' --force", "watch P --count 3"):
        failed = people(f"kv {line} --codec base64", status=1).err
        assert "key user.1 of bucket P cannot be decoded by --codec base64; leave --codec out" in failed
    assert len(people("kv ls P", status=0).out.split()) == 3
    assert people("kv ls P '*.mail' --codec base64", status=0).out == f"{ANN}\n{BOB}\n"


def test_a_bucket_is_encoded_anew(people: Cli, url: str) -> None:
    js.bucket(url, "Q", max_msgs_per_subject=5)
    exported = people("kv export P --codec base64", status=0).out
    assert [json.loads(line)["key"] for line in exported.splitlines()] == [ANN, ANN, BOB]
    moved = exported.replace(ANN, "/Ann Lee/mail")
    refused = people("kv import Q --codec path", stdin=moved, status=64).err
    assert "stdin line 1: '/Ann Lee/mail' is not a valid key for --codec path" in refused
    people("kv import Q --codec path,base64", stdin=moved, status=0)
    assert people("kv ls Q --codec path,base64", status=0).out == "/Ann Lee/mail\nBob/mail\n"
    assert people("kv ls Q '/*/mail' --codec path,base64", status=0).out == "/Ann Lee/mail\n"
    [first, *_] = people("kv diff P Q --codec base64 --json", status=2).json["differences"]
    assert first["key"] == ANN


def test_wrong_codecs_and_keys(people: Cli) -> None:
    assert "'gzip' is not one of base64, path" in people("kv ls P --codec gzip", status=64).err
    assert "path must be the first" in people("kv ls P --codec base64,path", status=64).err
    assert "it would be stored as 'a..b'" in people("kv put P a//b x --codec path", status=64).err
    for line in ("edit P --history 3", "del P --force", "ls"):
        assert "or leave --codec out" in people(f"kv {line} --codec path", status=64).err
    assert "'' is not one of base64, path" in people("kv put P a x --codec ''", status=64).err
    assert "overlap" in people("kv export P 'Ann Lee.*' '*.mail' --codec base64", status=64).err


@pytest.mark.parametrize(
    ("words", "expected"),
    [("--codec base64 Bo", [BOB]), ("--codec ", ["base64", "path", "path,base64"])],
)
def test_completion(people: Cli, words: str, expected: list[str]) -> None:
    line = f"jsctl kv get P {words}"
    environ = {"_JSCTL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    shown = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={**os.environ, **people.environ, **environ, "JSCTL_COMPLETE_WAIT": "5000"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.split() == [f"plain,{name}" for name in expected]


def test_a_key_that_is_left_out_is_asked_for(people: Cli) -> None:
    shown = people("kv history P --codec base64", tty=True, answers=[BOB], status=0)
    assert BOB in shown.out


def test_a_value_is_edited(people: Cli) -> None:
    editor = {"EDITOR": "sed -i s/2/9/"}
    line = ["kv", "edit", "P", ANN, "--codec", "base64", "--json"]
    assert people(line, environ=editor, status=0).json == {"bucket": "P", "key": ANN, "revision": 4}
    assert people(["kv", "get", "P", ANN, "--codec", "base64", "--raw"], status=0).out == "9"
    past = people(["kv", "get", "P", ANN, "--codec", "base64", "--revision", "1", "--raw"], status=0)
    assert past.out == "1"
    missing = people(["kv", "get", "P", ANN, "--codec", "base64", "--revision", "3"], status=3).err
    assert f"key {ANN} has no revision 3" in missing
    never = people(["kv", "get", "P", ANN, "--codec", "base64", "--at", "2020-01-01T00:00:00Z"], status=3).err
    assert f"key {ANN} did not exist at" in never
