"""What only a server that is away holds: nobody says that it does not exist, nor that all are online."""

from collections.abc import Sequence

import pytest

from jsctl.base.units import SECOND
from jsctl.commands.server.report.jetstream import JetStreamReport, show_report
from jsctl.jetstream.api import Json
from jsctl.monitor.doctor.gather import build_domain_views
from jsctl.monitor.doctor.snapshot import ServerView
from jsctl.monitor.trouble import Trouble, check_replicas, is_away
from jsctl.views.result import Table
from tests.support.tables import list_cells

COPY: Json = {"name": "COPY", "config": {"name": "COPY", "mirror": {"name": "ORDERS"}}, "state": {}}
HERE: Json = {"name": "n2", "current": True, "active": SECOND}
GONE: Json = {"name": "n2", "current": False, "active": 60 * SECOND}
LATE: Json = {"name": "n2", "current": False, "active": SECOND}


@pytest.mark.parametrize(("peer", "away"), [(HERE, False), (LATE, False), (GONE, True)])
def test_a_server_that_died_is_away_before_others_call_it_offline(peer: Json, away: bool) -> None:
    assert is_away(peer) == away
    assert is_away({**peer, "offline": True})
    meta = {"name": "c", "leader": "n1", "replicas": [peer]}
    parts = show_report([{"server": {"name": "n1"}, "data": {"meta_cluster": meta}}], JetStreamReport()).parts
    group = next(one for one in parts if isinstance(one, Table) and "Meta" in one.title)
    online = {row["Connection Name"].raw: row["Online"].raw for row in list_cells(group)}
    assert online == {"n1": True, "n2": not away}


@pytest.mark.parametrize(
    ("since", "words", "bad"),
    [
        ("2026-01-01T10:00:20Z", "not seen for 40s", True),
        ("2026-01-01T10:00:58Z", "not seen", False),
        (None, "not seen", False),
    ],
)
def test_a_former_leader_that_the_next_one_never_heard_of(since: str | None, words: str, bad: bool) -> None:
    """Servers before 2.12 do not say how long a leader has led."""
    cluster = {"leader": "n1", "leader_since": since, "replicas": [{**LATE, "active": 0}]}
    info = {"created": "2026-01-01T09:00:00Z", "cluster": cluster}
    code = "REPLICA_OFFLINE" if bad else "REPLICA_BEHIND"
    assert list(check_replicas(info, "2026-01-01T10:01:00Z")) == [Trouble(f"replica n2 {words}", bad, code)]


@pytest.mark.parametrize(
    ("peer", "others", "missing"),
    [(HERE, ["n2"], True), (HERE, [], False), (GONE, ["n2"], False), (GONE, [], False)],
)
def test_an_origin_may_be_on_a_server_that_is_offline(peer: Json, others: list[str], missing: bool) -> None:
    jsz = {"meta_cluster": {"leader": "n1", "replicas": [peer]}}
    held = {"A": {"name": "APP", "stream_detail": [COPY]}}
    servers = [ServerView("1", "n1", cluster="c", domain="hub", jsz=jsz, held=held)]
    servers += [ServerView(name, name, cluster="c", domain="hub", jsz={"streams": 0}) for name in others]
    [view] = build_domain_views(servers, [], [])
    assert view.origins["", "ORDERS"].missing == missing


@pytest.mark.parametrize("order", [("n1", "n2"), ("n2", "n1")])
@pytest.mark.parametrize("stream_leader", ["n1", "n2"])
@pytest.mark.parametrize(("leader", "taken"), [("n1", "n1"), ("n2", "n2"), ("n3", None)])
def test_a_consumer_is_as_its_own_leader_describes_it(
    order: Sequence[str], stream_leader: str, leader: str, taken: str | None
) -> None:
    servers = []
    for name in order:
        consumer = {"stream_name": "S", "name": "C", "config": {}, "cluster": {"leader": leader}, "by": name}
        stream = {"name": "S", "config": {"name": "S"}, "state": {}, "cluster": {"leader": stream_leader}}
        held = {"A": {"stream_detail": [{**stream, "consumer_detail": [consumer]}]}}
        servers.append(ServerView(name, name, cluster="c", domain="hub", held=held))
    [view] = build_domain_views(servers, [], [])
    assert [one["by"] for one in view.consumers or ()] == [taken or stream_leader]
