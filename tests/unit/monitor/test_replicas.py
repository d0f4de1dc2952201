"""Replicas of streams and consumers, as servers report them."""

from typing import Any

import pytest

from jsctl.base.units import SECOND
from jsctl.monitor.server.replicas import list_consumer_replicas, list_stream_replicas
from jsctl.monitor.trouble import is_away
from jsctl.views.server import replicas as view
from tests.support.tables import list_cells


def build_reply(server: str, size: int, delivered: int) -> dict[str, Any]:
    consumer = {
        "name": "C",
        "delivered": {"stream_seq": delivered, "consumer_seq": delivered},
        "ack_floor": {"stream_seq": 5, "consumer_seq": 5},
        "cluster": {"leader": "n1", "raft_group": "G2"},
    }
    stream = {
        "name": "S",
        "state": {"messages": 100, "bytes": size, "first_seq": 1, "last_seq": 100},
        "cluster": {"leader": "n2", "raft_group": "G1"},
        "consumer_detail": [consumer],
    }
    account = {"name": "A", "id": "A", "stream_detail": [stream]}
    return {"server": {"name": server, "id": f"N{server}"}, "data": {"account_details": [account]}}


REPLIES = [build_reply("n1", 9_999, 12), build_reply("n2", 10_000, 10)]


def test_streams_show_how_far_they_are_from_the_leader() -> None:
    result = view.streams(list_stream_replicas(REPLIES), None)
    assert [row["deviation"] for row in result.document()] == [{"bytes": -1}, {}]
    (table,) = result.tables()
    first, second = [row["Bytes"] for row in list_cells(table)]
    assert (first.shown, first.raw, second) == ("9.8 KiB (-0.01%)", 9_999, 10_000)


@pytest.mark.parametrize(
    ("size", "of_leader", "shown"),
    [
        *((990, 1_000, "990 B (-1%)"), (0, 1_000, "0 B (-100%)"), (5, 0, "5 B (+100%)")),
        *((999, 1_000, "999 B (-0.1%)"), (1_001, 1_000, "1001 B (+0.1%)"), (333, 1_000, "333 B (-66.7%)")),
    ],
)
def test_a_difference_is_a_percentage(size: int, of_leader: int, shown: str) -> None:
    replies = [build_reply("n1", size, 12), build_reply("n2", of_leader, 10)]
    (table,) = view.streams(list_stream_replicas(replies), None).tables()
    assert list_cells(table)[0]["Bytes"].shown == shown


def test_consumers_show_how_far_they_are_from_the_leader_and_who_leads_the_stream() -> None:
    result = view.consumers(list_consumer_replicas(REPLIES), None)
    assert [(row["leader"], row["stream_leader"]) for row in result.document()] == [("n1", "n2")] * 2
    off = {"delivered_stream_seq": -2, "delivered_consumer_seq": -2}
    assert [row["deviation"] for row in result.document()] == [{}, off]
    (table,) = result.tables()
    at = next(index for index, column in enumerate(table.columns) if column.key == "delivered")
    assert [row[at] for row in table.rows] == ["12 of 100, 12", "10 (-16.67%) of 100, 10 (-16.67%)"]


def test_a_silent_member_is_away_after_ten_seconds() -> None:
    assert not is_away({"current": False, "active": 10 * SECOND - 1})
    assert is_away({"current": False, "active": 10 * SECOND})
    assert not is_away({"current": True, "active": 10 * SECOND})
    assert is_away({"current": True, "offline": True})
    assert is_away({"current": False, "active": 0}, time_as_leader=10 * SECOND), "never heard of"
