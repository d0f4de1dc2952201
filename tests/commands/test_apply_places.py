"""`apply` and `diff` know a place by what it is: the plan is the same whatever leads there."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import js
from tests.support.declared import Files
from tests.support.run import Cli
from tests.support.servers import Account, AccountServers, HubLeaf, RealServer, many_accounts

WAYS = {
    "hub": ("hub", "local", "leaf@hub", "renamed@hub"),
    "leaf": ("leaf", "hub@leaf", "local@leaf", "renamed@leaf"),
}
"""Contexts and domains that lead to each of the two JetStreams."""


def place(way: str) -> dict[str, str]:
    context, _, domain = way.partition("@")
    return {"context": context, **({"domain": domain} if domain else {})}


Streams = list[tuple[str, str, str, int, bool]]
"""Name, JetStream, way, messages to keep, and whether there is a consumer."""


def declare(streams: Streams) -> str:
    """Return a file."""
    return json.dumps(
        {
            "label": "l",
            "streams": [
                {
                    **place(way),
                    "name": name,
                    "subjects": [f"{where}.{name}"],
                    "max_msgs": limit,
                    "consumers": [{"name": "C"}] if has_consumer else [],
                }
                for name, where, way, limit, has_consumer in streams
            ],
        }
    )


@st.composite
def declarations(draw: st.DrawFn) -> Streams:
    keys = draw(
        st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["hub", "leaf"])), unique=True, min_size=1)
    )
    return [
        (name, where, draw(st.sampled_from(WAYS[where])), draw(st.integers(5, 6)), draw(st.booleans()))
        for name, where in keys
    ]


def plan(files: Files, text: str) -> list[Any]:
    document = files("diff", text, "--prune --json").json
    changes = [
        {key: value for key, value in change.items() if key not in ("context", "at")}
        for change in document["changes"]
    ]
    return [document["unchanged"], *sorted(changes, key=json.dumps)]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=declarations(), after=declarations())
def test_a_plan_does_not_depend_on_the_way(
    pair: Cli,
    tmp_path: Path,
    before: Streams,
    after: Streams,
) -> None:
    files = Files(pair, tmp_path)
    files("apply", declare(before), "--prune --force --allow-data-loss", status=0)
    direct = [(name, where, where, limit, has) for name, where, _, limit, has in after]
    assert plan(files, declare(after)) == plan(files, declare(direct))
    files("apply", declare(after), "--prune --force --allow-data-loss", status=0)
    for where in WAYS:
        names = pair(f"stream ls --json --context {where}", status=0).json
        assert sorted(names) == sorted(name for name, there, *_ in after if there == where)
    assert plan(files, declare(direct)) == [
        {"streams": len(after), "consumers": sum(has for *_, has in after), "buckets": 0}
    ]


def test_prune_removes_nothing_that_the_file_declares(pair: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> None:
    files = Files(pair, tmp_path)
    text = declare([("A", "leaf", "hub@leaf", 5, False), ("B", "leaf", "leaf", 5, False)])
    files("apply", text, status=0)
    js.publish(hub_leaf.leaf.url_for("acc"), "leaf.A", count=3)
    assert "Nothing to change" in files("diff", text, "--prune", status=0).out
    files("apply", text, "--prune --force --allow-data-loss", status=0)
    assert js.info(hub_leaf.leaf.url_for("acc"), "A")["state"]["messages"] == 3
    # A removal and its loss count once.
    text = declare([("D", "leaf", "hub@leaf", 5, False), ("B", "leaf", "leaf", 5, False)])
    changes = files("diff", text, "--prune --json", status=2).json["changes"]
    assert [(change["stream"], change["action"]) for change in changes] == [("D", "create"), ("A", "remove")]
    assert changes[1]["messages"] == 3


def test_a_stream_that_two_ways_declare(pair: Cli, tmp_path: Path) -> None:
    files = Files(pair, tmp_path)
    text = declare([("A", "leaf", "hub@leaf", 5, False), ("A", "leaf", "leaf", 5, False)])
    assert "stream A is declared twice" in files("apply", text, status=64).err
    text = """
streams:
- {name: A, context: leaf, subjects: a, max_msgs: 9}
- {name: A, context: hub, domain: leaf, consumers: [{name: C}]}
- {name: NEW, context: hub, domain: leaf, subjects: n, mirror: null}
"""
    files("apply", text, status=0)
    assert pair("consumer ls A --json --context leaf", status=0).json == ["C"]


def test_a_context_that_was_renamed(pair: Cli, tmp_path: Path) -> None:
    files = Files(pair, tmp_path)
    files("apply", declare([("A", "hub", "renamed", 5, False)]), status=0)
    pair("context rm renamed --force", status=0)
    text = declare([("A", "hub", "hub", 5, False)])
    assert "Nothing to change" in files("diff", text, "--prune", status=0).out
    elsewhere = declare([("A", "leaf", "leaf", 5, False)])
    gone = files("diff", elsewhere, "--prune", status=3)
    assert "label l was applied to context renamed, which does not exist any more" in gone.err


def test_a_plan_is_for_one_jetstream(pair: Cli, tmp_path: Path) -> None:
    files = Files(pair, tmp_path)
    saved = tmp_path / "plan.json"
    files("diff", "streams: [{name: A, subjects: a}]", f"--out {saved} --context hub", status=2)
    other = pair(f"apply {saved} --context leaf", status=1)
    assert other.err.count("\n") == 1
    assert "the plan is stale, as this place is another JetStream than the one it was made for" in other.err
    assert pair("stream ls --json --context leaf", status=0).json == []
    pair(f"apply {saved} --context leaf --js-domain hub", status=0)
    assert pair("stream ls --json --context local", status=0).json == ["A"]


def test_a_plan_is_for_one_account(cli: Cli, account_servers: AccountServers, tmp_path: Path) -> None:
    one, two = account_servers.new_account(), account_servers.new_account()
    cli(f"context add c --server {one.url}", status=0)
    files, saved = Files(cli, tmp_path), tmp_path / "plan.json"
    files("diff", "streams: [{name: A, context: c, subjects: a}]", f"--out {saved}", status=2)
    cli(f"context add c --server {two.url}", status=0)
    assert "context c is another JetStream" in cli(f"apply {saved}", status=1).err


def test_a_plan_of_a_server_of_the_same_name(offline_cli: Cli, own_account: Account, tmp_path: Path) -> None:
    server = RealServer(tmp_path / "other", many_accounts())
    files, saved = Files(offline_cli, tmp_path), tmp_path / "plan.json"
    line = f"--server {own_account.url}"
    files("diff", "streams: [{name: A, subjects: a}]", f"--out {saved} {line}", status=2)
    try:
        other = server.start().url_for(own_account.user)
        assert "the plan is stale" in offline_cli(f"apply {saved} --server {other}", status=1).err
    finally:
        server.stop()
    offline_cli(f"apply {saved} {line}", status=0)


def test_a_plan_is_stale_once_a_file_has_changed(files: Files, tmp_path: Path) -> None:
    folder, saved = tmp_path / "my streams", tmp_path / "plan.json"
    folder.mkdir()
    (folder / "a.yaml").write_text("streams: [{name: A, subjects: a}]")
    files.cli(["diff", "-f", str(folder), "--out", str(saved)], status=2)
    files.cli(f"apply {saved} --dry-run", status=0)
    (folder / "b.yaml").write_text("")
    stale = files.cli(f"apply {saved}", status=1)
    assert f"the plan is stale, as {folder} was changed since" in stale.err
    (folder / "b.yaml").unlink()
    (folder / "a.yaml").write_text("streams: [{name: A, subjects: a}] # better")
    assert "was changed since" in files.cli(f"apply {saved}", status=1).err
    (folder / "a.yaml").unlink()
    folder.rmdir()  # a plan has the texts, and works where the files are not
    files.cli(f"apply {saved}", status=0)
