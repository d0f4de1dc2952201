"""`audit analyze`."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


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
        ("request raft", "no answers to RAFTZ"),
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
