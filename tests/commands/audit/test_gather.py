"""`audit gather`."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


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


def test_gather_and_analyze(system: Cli, archive: Path, tmp_path: Path) -> None:
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
    assert again.asked == [f"Really replace {archive} with the reports of the servers"]
    assert "--force" in system(f"audit analyze {archive} --save {saved}", status=64).err


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
