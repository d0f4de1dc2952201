"""The replicas on the page of a stream."""

from typing import Any

import pytest

from jsctl.base.units import SECOND
from jsctl.views.stream.info import cluster_sections

CREATED, SOON, LATER = "2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z", "2026-01-01T10:01:00Z"


@pytest.mark.parametrize(
    ("peer", "now", "words"),
    [
        ({"current": False}, SOON, "n2, not seen yet"),
        ({"current": False, "lag": 1}, SOON, "n2, not seen yet, 1 operation behind"),
        ({"current": False}, LATER, "n2, outdated, not seen"),
        ({"current": False, "pending": True}, LATER, "n2, not seen yet, (pending)"),
        ({"current": False, "offline": True}, SOON, "n2, outdated, OFFLINE, not seen"),
        ({"current": False, "active": SECOND}, SOON, "n2, outdated, seen 1.00s ago"),
        ({"current": True, "active": SECOND}, SOON, "n2, current, seen 1.00s ago"),
        ({"current": True}, SOON, "n2, current, not seen"),
    ],
)
def test_a_replica_that_is_being_made_is_not_called_outdated(
    peer: dict[str, Any], now: str, words: str
) -> None:
    cluster = {"name": "c", "leader": "n1", "replicas": [{"name": "n2", **peer}]}
    [section] = cluster_sections({"created": CREATED, "ts": now, "config": {}, "cluster": cluster})
    assert [field.value for field in section.fields if field.label == "Replica"] == [words]
