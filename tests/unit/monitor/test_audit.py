"""Each check of an audit on an archive in which something is wrong."""

import io
from pathlib import Path
from typing import Any

import pytest

from jsctl.errors import BadInput
from jsctl.monitor.audit.analysis import CHECKS, analyze
from jsctl.monitor.audit.archive import Archive, ArchiveWriter

Json = dict[str, Any]
NOW = 1_800_000_000.0


def archive_of(folder: Path, *files: tuple[Json, dict[str, str]]) -> Archive:
    path = folder / "archive.zip"
    with path.open("wb") as file, ArchiveWriter(file, NOW) as writer:
        for document, tags in files:
            writer.add_json(document, **tags)
    return Archive(str(path))


def server(name: str, kind: str, data: Json, cluster: str = "east") -> tuple[Json, dict[str, str]]:
    """What a server says of itself."""
    return {"data": data}, {"server": name, "cluster": cluster, "artifact_type": kind}


def stream(name: str, server: str, detail: Json) -> tuple[Json, dict[str, str]]:
    """What a server says of a stream."""
    tags = {"account": "A/B", "server": server, "cluster": "east", "stream": name}
    return {"name": name, **detail}, {**tags, "artifact_type": "stream_info"}


JWT = {"nats": {"limits": {"conn": 10, "subs": 100, "leaf": -1}}}
MONITORED = {"metadata": {"io.nats.monitor.enabled": "true", "io.nats.monitor.waiting-critical": "1"}}
WRONG = {
    "ACCOUNTS_001": [
        (
            {"data": {"client_connections": 11, "subscriptions": 95, "decoded_jwt": JWT}},
            {"account": "A", "server": "n1", "cluster": "east", "artifact_type": "account_info"},
        )
    ],
    "CLUSTER_001": [
        server(name, "variables", {"mem": mem}) for name, mem in (("n1", 1), ("n2", 1), ("n3", 9))
    ],
    "CLUSTER_002": [
        server("n1", "gateways", {"outbound_gateways": {"west": {"configured": True}}}),
        server("n2", "gateways", {"inbound_gateways": {"west": [{"configured": False}]}}),
    ],
    "CLUSTER_003": [server("n1", "jetstream_info", {"ha_assets": 1001})],
    "CLUSTER_004": [server("n1", "variables", {"mem": 1}, "the east")],
    "LEAF_001": [server("n1", "leafs", {"leafs": [{"name": "a leaf"}, {"name": "leaf"}]})],
    "META_001": [
        server(
            "n1",
            "jetstream_info",
            {"meta_cluster": {"leader": "n1", "replicas": [{"name": "n2", "offline": True}]}},
        )
    ],
    "META_002": [server(name, "jetstream_info", {"meta_cluster": {"leader": name}}) for name in ("n1", "n2")],
    "SERVER_001": [server("n1", "health", {"status": "unavailable", "status_code": 503, "error": "late"})],
    "SERVER_002": [
        server("n1", "variables", {"version": "2.14.0"}),
        server("n2", "variables", {"version": "2.15.0"}),
    ],
    "SERVER_003": [server("n1", "variables", {"cpu": 190, "cores": 2})],
    "SERVER_004": [server("n1", "variables", {"slow_consumers": 2})],
    "SERVER_005": [
        server("n1", "jetstream_info", {"storage": 91, "config": {"max_storage": 100, "max_memory": 10}})
    ],
    "SERVER_006": [server("n1", "jetstream_info", {"config": {"domain": "a b"}})],
    "SERVER_007": [server("n1", "variables", {"auth_required": False})],
    "SERVER_008": [
        server(
            "n1",
            "variables",
            {
                "now": "2026-11-22T00:00:00Z",
                "tls_cert_not_after": "2026-11-25T00:00:00Z",
                "leaf": {"tls_cert_not_after": "2026-12-12T00:00:00Z"},
                "cluster": {"tls_cert_not_after": "0001-01-01T00:00:00Z"},
            },
        )
    ],
    "JETSTREAM_001": [
        stream("S", "n1", {"state": {"last_seq": 100}}),
        stream("S", "n2", {"state": {"last_seq": 89}}),
    ],
    "JETSTREAM_002": [stream("S", "n1", {"state": {"num_subjects": 1_000_001}})],
    "JETSTREAM_003": [stream("S", "n1", {"state": {"bytes": 91}, "config": {"max_bytes": 100}})],
    "JETSTREAM_004": [
        stream(
            "S",
            "n1",
            {
                "config": {"metadata": {"io.nats.monitor.enabled": "true", "io.nats.monitor.msgs-warn": "5"}},
                "state": {"messages": 1},
            },
        )
    ],
    "JETSTREAM_005": [
        stream("S", "n1", {"consumer_detail": [{"name": "C", "num_waiting": 2, "config": MONITORED}]})
    ],
}
OUTCOMES = {
    **dict.fromkeys(WRONG, "WARN"),
    **dict.fromkeys(
        [
            "ACCOUNTS_001",
            "CLUSTER_002",
            "CLUSTER_004",
            "LEAF_001",
            "META_001",
            "META_002",
            "SERVER_002",
            "SERVER_003",
            "SERVER_008",
        ],
        "FAIL",
    ),
    **dict.fromkeys(["JETSTREAM_001", "JETSTREAM_005"], "FAIL"),
}


@pytest.mark.parametrize("code", [check.code for check in CHECKS])
def test_each_check_finds_what_is_wrong(code: str, tmp_path: Path) -> None:
    with archive_of(tmp_path, *WRONG[code]) as archive:
        report = analyze(archive, (), 0, NOW)
    result = next(one for one in report["checks"] if one["check"]["code"] == code)
    assert (result["outcome_string"], result["examples"].get("error")) == (OUTCOMES[code], None)
    assert len(result["examples"]["examples"]) == (
        2 if code in ("ACCOUNTS_001", "SERVER_002", "SERVER_008") else 1
    )


def test_servers_of_a_cluster_may_differ_by_half_of_the_mean(tmp_path: Path) -> None:
    servers = (server(name, "variables", {"mem": mem}) for name, mem in (("n1", 20), ("n2", 20), ("n3", 40)))
    with archive_of(tmp_path, *servers) as archive:
        report = analyze(archive, (), 0, NOW)
    result = next(one for one in report["checks"] if one["check"]["code"] == "CLUSTER_001")
    assert result["outcome_string"] == "PASS"


def test_an_archive_of_nothing(tmp_path: Path) -> None:
    with archive_of(tmp_path) as archive:
        report = analyze(archive, (), 0, NOW)
    assert report["outcomes"] == {"PASS": 2, "WARN": 0, "FAIL": 0, "SKIP": 19}
    assert all("error" in one["examples"] for one in report["checks"] if one["outcome_string"] == "SKIP")


def test_files_of_other_makers(tmp_path: Path) -> None:
    """Data of any shape skips a check; a damaged file is an error."""
    with archive_of(
        tmp_path, server("n1", "variables", {"cpu": []}), stream("S", "n1", {"state": 7})
    ) as archive:
        report = analyze(archive, (), 1, NOW)
    outcomes = {one["check"]["code"]: one for one in report["checks"]}
    assert "something unexpected" in outcomes["SERVER_003"]["examples"]["error"]
    assert "something unexpected" in outcomes["JETSTREAM_001"]["examples"]["error"]
    data = bytearray((tmp_path / "archive.zip").read_bytes())
    data[80:90] = b"\0" * 10
    (tmp_path / "archive.zip").write_bytes(data)
    with (
        pytest.raises(BadInput, match=r"damaged|not an archive"),
        Archive(str(tmp_path / "archive.zip")) as archive,
    ):
        analyze(archive, (), 0, NOW)


def test_pages_and_limits(tmp_path: Path) -> None:
    pages = [server("n1", "variables", {"slow_consumers": count}) for count in (1, 2, 3)]
    with archive_of(tmp_path, *pages) as archive:
        report = analyze(archive, ("server_001",), 2, NOW)
        assert archive.values("server") == ["n1"]
    result = next(one for one in report["checks"] if one["check"]["code"] == "SERVER_004")
    assert len(result["examples"]["examples"]) == 2 and result["examples"]["more"] == 1
    assert report["skipped_checks"] == ["SERVER_001"]


def test_names_stay_in_the_archives_folder() -> None:
    file = io.BytesIO()
    with ArchiveWriter(file, NOW) as writer:
        writer.add_json({}, server="../../x", cluster="..", artifact_type="variables")
    import zipfile

    names = zipfile.ZipFile(file).namelist()
    assert names[0] == "capture/clusters/_../.._.._x/variables/0001.json"
