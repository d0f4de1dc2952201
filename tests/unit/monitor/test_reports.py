"""Rows of reports from what servers say."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from jsctl.base.loops import run
from jsctl.base.units import read_known_time
from jsctl.commands.stream.report import show_report
from jsctl.jetstream.paging import merge_pages
from jsctl.monitor.origins import Report
from jsctl.monitor.stream import rows as reports
from tests.support.tables import list_cells

AT = datetime(2026, 11, 21, tzinfo=UTC)


def info(name: str, **more: Any) -> dict[str, Any]:
    return {"config": {"name": name, "storage": "file"}, "state": {"messages": 1, "bytes": 2}, **more}


def test_pages_are_put_together() -> None:
    pages = [
        {"streams": [info("A"), info("B")], "missing": ["C", "D"], "offline": {"D": "too old"}},
        {"streams": [info("B")], "missing": ["A"]},
    ]

    async def fetch() -> AsyncIterator[dict[str, Any]]:
        for page in pages:
            yield page

    result = run(merge_pages(fetch(), "streams", lambda one: one))
    assert list(result.items) == ["A", "B"]
    assert (result.missing, result.offline) == (["C"], {"D": "too old"})
    snap = reports.Snapshot(AT, list(result.items.values()), result.missing, result.offline)
    rows = reports.build_stream_rows(snap)
    assert [(row.stream, row.offline) for row in rows] == [
        ("A", None),
        ("B", None),
        ("C", "no answer"),
        ("D", "too old"),
    ]
    report = Report(rows[:2], [], {}, result.missing, result.offline)
    titles = [table.title for table in show_report(report).tables()]
    assert titles == ["Stream Report", "Inaccessible Streams", "Offline Streams"]


def test_a_clustered_stream() -> None:
    cluster = {
        "name": "c1",
        "leader": "n2",
        "replicas": [
            {"name": "n3", "current": False},
            {"name": "n1", "current": True},
            {"name": "n4", "current": True, "offline": True},
        ],
    }
    state = {"messages": 5, "bytes": 9, "num_deleted": 3, "lost": {"msgs": [1, 2], "bytes": 2048}}
    one = {**info("A", cluster=cluster), "state": state}
    one["config"] |= {
        "placement": {"cluster": "c1", "tags": ["a", "b"]},
        "metadata": {"_nats.req.level": "2"},
    }
    row = reports.build_stream_row(one)
    assert (row.leader, row.cluster, row.peers) == ("n2", "c1", ("n1", "n3!", "n4!"))
    assert (row.deleted, row.lost, row.lost_bytes, row.api_level) == (3, 2, 2048, 2)
    assert row.placement == "cluster: c1 tags: a, b"
    [shown] = list_cells(show_report(Report([row], [])).tables()[0])
    assert shown["Lost"].shown == "2 (2.0 KiB)" and shown["Replicas"].shown == "n1, n2*, n3!, n4!"


def test_replication() -> None:
    mirror = {"name": "O", "external": {"api": "$JS.leaf.API"}, "active": -1, "lag": 7}
    sources = [
        {"name": "Z", "active": 5, "lag": 0, "filter_subject": "a.*"},
        {
            "name": "P",
            "active": (1 << 63) - 1,
            "error": {"code": 404, "err_code": 10059, "description": "stream not found"},
            "subject_transforms": [{"src": "a", "dest": "b"}, {"src": "c", "dest": ""}],
        },
    ]
    infos = info("M", mirror=mirror), info("S", sources=sources)
    assert [tuple(row)[2:11] for one in infos for row in reports.build_stream_links(one)] == [
        ("M", "mirror", "$JS.leaf.API", "O", "", -1, 7, "", ""),
        ("S", "source", "", "P", "a to b, c untransformed", -1, 0, "stream not found (10059)", ""),
        ("S", "source", "", "Z", "a.* untransformed", 5, 0, "", ""),
    ]


def test_times_that_have_not_come() -> None:
    assert (
        read_known_time("0001-01-01T00:00:00Z")
        is read_known_time("1970-01-01T00:00:00Z")
        is read_known_time("")
        is None
    )
