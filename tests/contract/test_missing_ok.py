"""--missing-ok of every verb that removes something: what does not exist is removed already."""

from pathlib import Path

import pytest

from tests.contract.test_dry_runs import FLAGS
from tests.support import js
from tests.support.operator_site import Site
from tests.support.run import Cli

LINES = [
    "stream rm NOPE",
    "stream purge NOPE",
    "stream purge NOPE*",
    "stream rmm NOPE 1",
    "stream rmm S 9",
    "consumer rm S NOPE",
    "consumer rm NOPE C",
    "schedule rm NOPE nope",
    "consumer pcgroup rm S NOPE",
    "kv del B nope",
    "kv del NOPE nope",
    "kv del NOPE",
    "kv purge B nope",
    "object rm O nope",
    "object rm NOPE",
    "context rm nope",
    "server network down nope",
]

OF_OPERATOR = [
    "auth user rm nope A",
    "auth user rm nope NOPE",
    "auth account rm NOPE",
    "auth account keys rm A --key nope",
    "auth account exports rm nope.> A",
    "auth account imports rm nope.> A",
    "auth account mappings rm A nope",
    "auth account revocations rm nope A",
    "auth operator keys rm ACME nope",
]


def test_each_verb_is_here() -> None:
    declared = {path for path in FLAGS if "--missing-ok" in FLAGS[path]}
    assert declared == {
        path for path in FLAGS if any(f"{line} ".startswith(f"{path} ") for line in (*LINES, *OF_OPERATOR))
    }
    assert all("--if-exists" in FLAGS[path] for path in declared)
    assert {path for path in FLAGS if path.endswith((" rm", " rmm", " purge", " del"))} - declared == {
        "server account purge"
    }


@pytest.mark.parametrize("line", LINES)
def test_what_does_not_exist(line: str, cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    cli("kv add B", status=0)
    cli("object add O", status=0)
    check(cli, line)


def check(cli: Cli, line: str) -> None:
    force = [] if line.startswith(("kv del", "kv purge", "context")) else ["--force"]
    words = line.split()
    assert cli([*words, *force]).status in (3, 64), line  # 64: it cannot ask
    for flag in ("--missing-ok", "--if-exists"):
        done = cli([*words, "--force", flag], status=0)
        assert "Traceback" not in done.err and done.err.count("\n") <= 2, done
        assert cli([*words, "--force", flag, "--json"], status=0).json is not None
        cli([*words, flag, "--dry-run"], status=0)


def test_of_an_operator(tmp_path: Path) -> None:
    site = Site(tmp_path)
    try:
        site.cli("auth account add A --defaults", status=0)
        for line in OF_OPERATOR:
            check(site.cli, line)
    finally:
        site.server.stop()


def test_what_exists_is_removed(cli: Cli, url: str) -> None:
    for name in ("ONE", "TWO"):
        js.stream(url, name, f"{name}.>")
    removed = cli("stream rm NOPE ONE X* TWO --force --missing-ok", terminal_error=True, status=0)
    assert removed.err.count("there is no stream") == 2
    assert cli("stream ls --json", status=0).json == []
    cli("kv add B", status=0)
    cli("kv put B a 1", status=0)
    cli("kv put B b 1", status=0)
    assert cli("kv del B nope a b --missing-ok --force --json", status=0).json["keys"] == ["nope", "a", "b"]
    cli("object add O", status=0)
    cli("object put O - --name x", stdin="x", status=0)
    cli("object rm O nope x --if-exists --force", status=0)
    assert cli("object ls O --json", status=0).json == []
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", count=2)
    cli("stream rmm S 9 1 --missing-ok --force", status=0)
    assert js.ask(url, "STREAM.INFO.S")["state"]["messages"] == 1


def test_another_failure_stays_one(offline_cli: Cli) -> None:
    offline_cli("stream rm S --missing-ok --force --server nats://127.0.0.1:1", status=4)
    offline_cli("stream rm --missing-ok --force", status=64)


def test_a_forced_removal_of_a_missing_key_is_a_success(cli: Cli, url: str) -> None:
    cli("kv add B", status=0)
    for verb in ("del", "purge"):
        assert "not found" in cli(f"kv {verb} B nope", status=3).err
        cli(f"kv {verb} B nope --force", status=0)  # which leaves a marker, as with nats
        assert len(cli("kv history B nope --json", status=0).json) == 1
        js.ask(url, "STREAM.PURGE.KV_B")
    cli("kv put B a 1", status=0)
    cli("kv del B a -f", status=0)
    cli("kv del B a", status=3)
    cli("kv del B a -f", status=0)
    cli("kv del NOPE a -f", status=3)
