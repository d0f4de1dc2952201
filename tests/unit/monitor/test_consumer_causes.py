"""The sentences of `consumer why` that need a cluster in trouble."""

import pytest

from jsctl.base.units import SECOND
from jsctl.jetstream.api import Json
from jsctl.jetstream.error_hints import find_hint
from jsctl.monitor.consumer.diagnosis import find_causes
from jsctl.monitor.consumer.facts import Facts
from jsctl.nats.error_codes import ErrorCode
from jsctl.views.consumer.why import explained


@pytest.mark.parametrize(
    ("peer", "says"),
    [
        ({"active": 33 * SECOND, "lag": 1}, "its replica on n1 has not been seen for 33s, 1 behind"),
        ({"active": SECOND}, "its replica on n1 is outdated"),
        ({"offline": True}, "its replica on n1 is offline"),
    ],
)
def test_replicas_that_are_behind_are_described(peer: Json, says: str) -> None:
    group = {"leader": "n3", "replicas": [{"name": "n1", "current": False, **peer}]}
    consumer = {
        "created": "2026-01-01T10:00:00Z",
        "ts": "2026-01-01T11:00:00Z",
        "config": {"ack_policy": "explicit"},
        "delivered": {"consumer_seq": 0, "stream_seq": 0},
        "ack_floor": {"consumer_seq": 0, "stream_seq": 0},
        "cluster": group,
    }
    stream = {"cluster": {"leader": "n3"}, "config": {}, "state": {}}
    assert says in [cause.says for cause in find_causes(Facts("S", "C", consumer, stream))]


def test_without_a_leader_doctor_is_offered_once() -> None:
    group = {"raft_group": "g", "replicas": [{"name": "n1", "current": False}]}
    stream = {"cluster": group, "config": {}, "state": {}}
    causes = find_causes(Facts("S", "C", {"cluster": group}, stream))
    assert [cause.kind for cause in causes[:2]] == ["stream without leader", "consumer without leader"]
    shown = explained("S", "C", causes, ["--context", "app"])
    assert shown.data["causes"][0]["help"] == "jsctl doctor --context app"
    assert str(shown.parts).count("try: jsctl doctor --context app") == 1


def test_servers_are_asked_with_the_system_account() -> None:
    """The login that sees the consumer may not ask them."""
    line = "jsctl server report jetstream --context system"
    assert f"{line} (with a context of the system account)" in find_hint(ErrorCode.INSUFFICIENT_RESOURCES)
