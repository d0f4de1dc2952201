"""`audit analyze`."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from jsctl.monitor.audit.archive import ArchiveWriter
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.subscribing import subscribing


def test_what_doctor_finds_and_reports_from_an_archive(
    system: Cli, hub_leaf: HubLeaf, offline_cli: Cli, tmp_path: Path
) -> None:
    external = {"api": "$JS.hub.API", "deliver": ""}
    js.stream(hub_leaf.url, "COPY", domain="leaf", mirror={"name": "NONE", "external": external})
    js.stream(hub_leaf.url, "ORDERS", "orders", domain="hub", allow_msg_ttl=True)
    path = tmp_path / "audit.zip"
    system(f"audit gather -o {path} --no-server-profiles --no-progress", status=0)
    findings = offline_cli(f"audit analyze {path} --json", status=0).json["doctor"]
    assert [one["about"] for one in findings if one["code"] == "ORIGIN_MISSING"]
    assert "ORIGIN_MISSING" in offline_cli(f"audit analyze {path}", status=0).out
    assert "## jsctl doctor" in offline_cli(f"audit analyze {path} --markdown", status=0).out

    def rows(line: str) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = offline_cli(f"server {line} --archive {path} --json", status=0).json
        return result

    assert {row["account"] for row in rows("report connections")} >= {"SYS"}
    assert {row["server"] for row in rows("report health")} == {"hub-server", "leaf-server"}
    assert [row["server"] for row in rows("report health --host leaf-server")] == ["leaf-server"]
    assert {row["server"]["name"] for row in rows("list")} == {"hub-server", "leaf-server"}
    assert len(rows("report leafnodes")) == 4 and len(rows("request variables")) == 2
    outdated = offline_cli(f"server report downgrade 0 --archive {path} --json", status=0).json
    assert outdated["streams"] == [{"account": "ACC", "name": "ORDERS", "api_level": 1}]
    shown = offline_cli(f"server report jetstream --account ACC --archive {path}", status=0).out
    assert "JetStream Summary for Account ACC" in shown
    assert offline_cli(f"server info hub-server --archive {path} --json", status=0).json["port"]
    for line, words in (
        ("report downgrade 0 --watch 1s", "cannot be used together"),
        ("report cpu --watch 1s", "cannot be used together"),
    ):
        assert words in offline_cli(f"server {line} --archive {path}", status=64).err
    assert "has no server 'none'" in offline_cli(f"server info none --archive {path}", status=3).err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("audit analyze", "there is nothing to analyze"),
        ("audit analyze none.zip", "cannot read none.zip"),
        ("audit analyze {file}", "is not an archive"),
        ("audit analyze --load {file}", "is not valid"),
        ("audit analyze --load {file} --skip X", "cannot be used with"),
        ("audit analyze {zip}", "it has no manifest"),
    ],
)
def test_what_cannot_be_analyzed(offline_cli: Cli, tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "text").write_text("{}")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("a", b"b")
    filled = line.format(file=tmp_path / "text", zip=tmp_path / "other.zip")
    outcome = offline_cli(filled, status=64)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1


@pytest.mark.slow
def test_filters_of_an_archive_filter_or_are_refused(
    system: Cli, hub_leaf: HubLeaf, offline_cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "audit.zip"
    with subscribing(hub_leaf.url, "orders.*"):
        system(f"audit gather -o {path} --no-server-profiles --no-progress", status=0)

    def rows(line: str) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = offline_cli(f"server {line} --archive {path} --json", status=0).json
        return result

    whole = rows("report connections")
    assert len({(row["server"]["name"], row["cid"]) for row in whole}) == len(whole), "one is there twice"
    assert {row["account"] for row in whole} > {"ACC"}
    assert {row["account"] for row in rows("report connections --account ACC")} == {"ACC"}
    # The leaf node's connection carries the subscription, too.
    assert {row["account"] for row in rows("report connections --subject orders.x")} == {"ACC"}
    assert rows("report connections --subject other") == []
    for flags in ("--filter-account ACC", "--filter-subject orders.new"):
        found = [
            one for reply in rows(f"request connections {flags}") for one in reply["data"]["connections"]
        ]
        assert found and {one["account"] for one in found} == {"ACC"}
        counts = [reply["data"]["total"] for reply in rows(f"request connections {flags}")]
        assert sum(counts) == len(found)
    found = [
        one["subject"]
        for reply in rows("request subscriptions --filter-account ACC --filter-subject orders.7 --detail")
        for one in reply["data"]["subscriptions_list"]
    ]
    assert set(found) == {"orders.*"}
    accounts = [reply["data"]["account_details"] for reply in rows("request jetstream --account ACC")]
    assert {account["name"] for details in accounts for account in details} <= {"ACC"}
    replies = rows("request accounts --account ACC")
    assert {reply["data"]["account_detail"]["account_name"] for reply in replies} == {"ACC"}
    assert len(replies) == 2 and not any("accounts" in reply["data"] for reply in replies)
    for line in (
        *(f"request {kind} --account NO" for kind in ("accounts", "raft", "jetstream")),
        *(f"request {kind} --filter-account NO" for kind in ("connections", "subscriptions")),
        *(f"report {kind} --account NO" for kind in ("leafnodes", "jetstream")),
    ):
        refused = offline_cli(f"server {line} --archive {path}", status=3).err
        assert "has nothing about account NO; its accounts: " in refused, line
    assert len(rows("request jetstream --leader")) == 2, "without a cluster, each leads itself"
    assert len(rows("request raft")) == 2 and len(rows("request ipqueue")) == 2
    assert {row["account"] for row in rows("report leafnodes --account ACC")} == {"ACC"}
    for line, words in (
        ("report connections --username acc", "by user"),
        ("report connections --state closed", "by state"),
        ("report health --js-enabled", "js-enabled-only"),
        ("report health --account ACC", "account"),
        ("report gateways --filter-name none", "name"),
        ("request connections --sort subs", "by sort"),
        ("request connections --limit 1", "by limit"),
        ("request gateways --filter-account ACC", "account"),
    ):
        refused = offline_cli(f"server {line} --archive {path}", status=64).err
        assert "an archive cannot be filtered" in refused and words in refused, line


def test_answers_about_accounts_are_read(offline_cli: Cli, tmp_path: Path) -> None:
    """Also where there are no others; each connection once."""
    path, server = tmp_path / "audit.zip", {"id": "N1", "name": "n1"}
    tags = {"server": "n1", "cluster": "unclustered"}
    with path.open("wb") as file, ArchiveWriter(file, 2e9) as writer:
        for account, numbers in (("A", (1, 2)), ("B", (3,))):
            about = {**tags, "account": account}
            connections = [{"cid": number} for number in numbers]
            data: dict[str, Any] = {"connections": connections}
            writer.add_json({"server": server, "data": data}, **about, artifact_type="account_connections")
            writer.add_json({"server": server, "data": data}, **about, artifact_type="account_connections")
            data = {account: {"S-R3F-1": {"id": "x"}, "C-R3F-2": {"id": "y"}}}
            writer.add_json({"server": server, "data": data}, **about, artifact_type="account_raftz")
            data = {f"[ACC:{account}] queue": {"pending": 1}}
            writer.add_json({"server": server, "data": data}, **about, artifact_type="account_ipqueues")

    def read(line: str) -> dict[str, Any]:
        document = offline_cli(f"server request {line} --archive {path} --json", status=0).json
        return dict((document if isinstance(document, dict) else document[0])["data"])

    assert [(one["cid"], one["account"]) for one in read("connections")["connections"]] == [
        (1, "A"),
        (2, "A"),
        (3, "B"),
    ]
    assert set(read("raft")) == {"A", "B"} and set(read("raft --account B")) == {"B"}
    assert read("raft --account A --group S-R3F-1") == {"A": {"S-R3F-1": {"id": "x"}}}
    assert len(read("ipqueue")) == 2 and list(read("ipqueue --filter B")) == ["[ACC:B] queue"]
