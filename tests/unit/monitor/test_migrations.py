"""Migrations that stand still (ADR-62)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from jsctl.monitor.rules.streams import check_stream
from jsctl.monitor.trouble import check_migration

NOW = datetime(2026, 1, 1, 12, 10, tzinfo=UTC)


def build_info(kind: str, created: str = "2026-01-01T12:00:00Z", **desired: Any) -> dict[str, Any]:
    """Return a stream as a server describes it while its servers are changed."""
    status = {"description": "waiting", "type": kind, **desired.pop("status", {})}
    pending = {"name": "n2", "current": False, "active": 0, "pending": True}
    return {
        "config": {"name": "S", "num_replicas": 3},
        "state": {"messages": 1, "consumer_count": 0},
        "created": "2026-01-01T00:00:00Z",
        "ts": "2026-01-01T12:10:00Z",
        "cluster": {
            "name": "c1",
            "raft_group": "S-R3F-x",
            "leader": "n1",
            "leader_since": "2026-01-01T00:00:00Z",
            "replicas": [pending],
            "desired": {"created": created, "name": "c1", "status": status, **desired},
        },
    }


@pytest.mark.parametrize(
    ("kind", "verb", "names"),
    [
        ("meta", "server report jetstream", []),
        ("membership", "server report jetstream", []),
        ("snapshot", "server report jetstream", []),
        ("catchup", "stream info", ["S"]),
        ("quorum", "stream cluster cancel-move", ["S"]),
        ("blocked", "consumer report", ["S"]),
        ("unavailable", "server list", []),
        ("of a later server", "stream info", ["S"]),
    ],
)
def test_what_helps(kind: str, verb: str, names: list[str]) -> None:
    [trouble] = check_migration(build_info(kind, origin={"replicas": 1}), NOW)
    assert (trouble.words, trouble.bad) == (f"migration stands still: {kind}", False)
    assert trouble.says == f"its migration began 10m0s ago and has not ended: waiting ({kind})"
    [line] = trouble.help
    assert (line.verb, list(line.names)) == (verb, names)


def test_only_what_is_old_or_fails() -> None:
    """The zero time stands for a migration that the meta leader has not recorded."""
    for created in ("2026-01-01T12:09:30Z", "0001-01-01T00:00:00Z"):
        assert not list(check_migration(build_info("meta", created), NOW))
        failing = build_info("meta", created, status={"err": "no space"})
        assert [trouble.bad for trouble in check_migration(failing, NOW)] == [True]
    away = build_info("catchup", replicas=[{"name": "n2", "offline": True}, {"name": "n3"}])
    [trouble] = check_migration(away, NOW)
    assert trouble.bad and trouble.says.endswith("; n2 is offline")
    assert not list(check_migration({"cluster": {"name": "c1"}}, NOW))


def test_a_consumer() -> None:
    def suggest(leader: str) -> Sequence[tuple[str, list[str]]]:
        info = {**build_info("quorum"), "stream_name": "S", "name": "C"}
        info["cluster"] = {**info["cluster"], "leader": leader, "desired": {**info["cluster"]["desired"]}}
        info["cluster"]["desired"]["replicas"] = [{"name": "n1"}, {"name": "n2"}]
        return [(line.verb, [*line.names]) for trouble in check_migration(info, NOW) for line in trouble.help]

    assert suggest("n1") == [("consumer cluster cancel-move", ["S", "C"])]  # gains n2
    assert suggest("n9") == [("server list", [])]  # moves from n9, which nobody takes back


def test_what_is_to_come_is_not_missing() -> None:
    """Neither are peers that are not yet in the group behind, nor are replicas missing."""
    assert [trouble.code for trouble in check_stream(build_info("quorum"), NOW)] == ["MIGRATION_STALLED"]
