"""`audit gather`, `analyze` and `checks` on a real hub with a leaf node."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)


@pytest.fixture
def archive(system: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> Path:
    """An archive of a network with a stream that is nearly full, and one that says how it is monitored."""
    js.stream(hub_leaf.url, "FULL", "full.>", domain="hub", max_msgs=10)
    js.publish(hub_leaf.url, "full.a", count=10)
    metadata = {"io.nats.monitor.enabled": "true", "io.nats.monitor.msgs-critical": "1"}
    js.stream(hub_leaf.url, "WATCHED", "watched.>", domain="hub", metadata=metadata)
    path = tmp_path / "audit.zip"
    outcome = system(f"audit gather -o {path} --no-server-profiles", status=0)
    assert "found 2 servers: hub-server, leaf-server" in outcome.err
    return path


@pytest.mark.slow
def test_gather_and_analyze(system: Cli, archive: Path, tmp_path: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(archive) as files:
        names = set(files.namelist())
        manifest = json.loads(files.read("capture/misc/manifest.json"))
    assert "capture/clusters/unclustered/hub-server/variables/0001.json" in names
    path = "capture/accounts/ACC/streams/FULL/replicas/unclustered__hub-server/stream_info/0001.json"
    assert {tag["Name"]: tag["Value"] for tag in manifest[path]} == {
        "account": "ACC",
        "server": "hub-server",
        "cluster": "unclustered",
        "stream": "FULL",
        "artifact_type": "stream_info",
    }
    assert set(manifest) == names - {"capture/misc/manifest.json"}

    saved = tmp_path / "report.json"
    report = system(f"audit analyze {archive} --json --save {saved}", status=0).json
    outcomes = {one["check"]["code"]: one for one in report["checks"]}
    assert len(outcomes) == sum(report["outcomes"].values()) == 21
    assert outcomes["JETSTREAM_003"]["outcome_string"] == "WARN"
    assert outcomes["JETSTREAM_003"]["examples"]["examples"] == ["ACC/FULL on hub-server: 10 of 10 messages"]
    assert outcomes["JETSTREAM_004"]["outcome"] == 2
    assert outcomes["SERVER_008"]["outcome_string"] == "SKIP"
    assert outcomes["SERVER_001"]["outcome_string"] == "PASS"
    assert json.loads(saved.read_text()) == report

    shown = system(f"audit analyze {archive} --verbose", tty=True, width=120, status=0).out
    assert "WARN JETSTREAM_003: ACC/FULL" in shown and "last_seq (10)" in shown and "Report Summary" in shown
    loaded = system(f"audit analyze --load {saved} --markdown", status=0).out
    assert "- ACC/FULL on hub-server: 10 of 10 messages" in loaded
    skipped = system(f"audit analyze {archive} --json --skip jetstream_003", status=0).json
    assert skipped["skipped_checks"] == ["JETSTREAM_003"] and skipped["outcomes"]["SKIP"] == 2

    again = system(f"audit gather -o {archive}", answers=[False], status=0)
    assert again.asked == [f"Really replace {archive} by what the servers tell"]
    assert "--force" in system(f"audit analyze {archive} --save {saved}", status=64).err


@pytest.mark.slow
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


@pytest.mark.slow
def test_profiles(system: Cli, tmp_path: Path) -> None:
    path = tmp_path / "audit.zip"
    line = (
        f"audit gather -o {path} --timeout 1s --no-account-endpoints --no-streams --no-details --no-progress"
    )
    result = system(f"{line} --json", status=0)
    assert result.json["profiles"] == 16 and result.err == ""
    assert "capture/profiles/unclustered/hub-server__goroutine_2.prof" in zipfile.ZipFile(path).namelist()


def test_what_cannot_be_gathered(cli: Cli, system: Cli, tmp_path: Path) -> None:
    path = tmp_path / "audit.zip"
    assert "'none'" in system(f"audit gather -o {path} --cluster none", status=1).err
    assert "system account" in cli(f"audit gather -o {path} --timeout 1s", status=5).err
    assert "cannot write" in system("audit gather -o /no/such/audit.zip", status=1).err
    assert list(tmp_path.glob("*.zip")) == []


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


def test_checks(offline_cli: Cli) -> None:
    checks = offline_cli("audit checks --json", status=0).json
    assert [one["code"] for one in checks][:2] == ["ACCOUNTS_001", "CLUSTER_001"]
    assert checks[0]["configuration"]["connections"]["default"] == 90
    assert "subjects (1,000,000)" in offline_cli("audit ls", status=0).out
