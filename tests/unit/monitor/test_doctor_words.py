"""What `doctor` says of servers that are away: how many more may fail, and what is safe to remove."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from jsctl.base.units import SECOND
from jsctl.monitor.doctor.diagnosis import diagnose
from jsctl.monitor.doctor.snapshot import ContextView, DomainView, ServerView, Snapshot
from jsctl.views import doctor as view

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def servers(present: int, size: int, *, leader: str = "") -> list[ServerView]:
    """Servers of one meta group. size: how many it has."""
    away = [{"name": f"s{number}", "offline": True} for number in range(present, size)]
    here = [{"name": f"s{number}", "current": True} for number in range(1, present)]
    meta = {"cluster_size": size, "leader": leader, "replicas": [*here, *away]}
    return [
        ServerView(str(number), f"s{number}", "c", jetstream=True, varz={"a": 1}, jsz={"meta_cluster": meta})
        for number in range(present)
    ]


def stream(size: int, away: int) -> dict[str, Any]:
    peers = [{"name": f"s{number}", "offline": number > size - away} for number in range(2, size + 1)]
    return {
        "config": {"name": "S", "num_replicas": size},
        "state": {"messages": 0, "last_seq": 0},
        "created": "2026-01-01T00:00:00Z",
        "cluster": {"leader": "s1", "raft_group": "g", "replicas": [{**p, "current": True} for p in peers]},
    }


@pytest.mark.parametrize(
    ("present", "size", "says"),
    [
        (6, 9, "6 of its 9 servers answer, which is a majority, and are electing one"),
        (5, 9, "5 of its 9 servers answer, which is a majority, and are electing one"),
        (4, 9, "of its 9 servers only s0, s1, s2, s3 answer"),
        (1, 3, "of its 3 servers only s0 answers"),
        (1, 2, "of its 2 servers only s0 answers"),
        (3, 3, "they answer and are electing one"),
    ],
)
def test_a_majority_is_more_than_half(present: int, size: int, says: str) -> None:
    [finding] = diagnose(Snapshot(NOW, servers=servers(present, size)))
    assert (finding.code, says in finding.says) == ("META_NO_LEADER", True), finding.says
    has_majority = present * 2 > size
    assert ("until a majority is back" in finding.why) != has_majority
    assert "peer-remove" not in finding.advice and "NAME" not in finding.advice


def test_six_of_nine_work_on() -> None:
    """Servers that hold nothing are not missed while the others have a leader."""
    assert diagnose(Snapshot(NOW, servers=servers(6, 9, leader="s0"))) == []


@pytest.mark.parametrize(
    ("size", "away", "says"),
    [
        (3, 1, "if one more server fails"),
        (5, 1, "if 2 more servers fail"),
        (5, 2, "if one more server fails"),
    ],
)
def test_how_many_more_a_stream_may_lose(size: int, away: int, says: str) -> None:
    domain = DomainView("here", "A", "A", "", "$JS.API", streams={"S": stream(size, away)}, consumers=())
    first, *_ = diagnose(Snapshot(NOW, domains=[domain]))
    assert first.code == "REPLICA_OFFLINE" and first.why.startswith(says)
    assert "if it will not come back, and held no stream of one replica" in first.advice
    silent = domain._replace(silent={"ONLY": "no answer"})
    found = {each.code: each.advice for each in diagnose(Snapshot(NOW, domains=[silent]))}
    assert "peer-remove" not in found["REPLICA_OFFLINE"] and "only copy" in found["REPLICA_OFFLINE"]


def test_the_count_of_domains() -> None:
    """JetStream without a domain is one, through however many contexts it is seen; what is silent is none."""
    views = [
        DomainView(name, name, name, domain, "$JS.API", network, error)
        for name, domain, network, error in (
            ("a", "", "n1", None),
            ("b", "", "n1", None),
            ("c", "hub", "n1", None),
            ("d", "hub", "n1", None),
            ("e", "", "n2", None),
        )
    ]
    contexts = [ContextView(each.context) for each in views]
    shown = view.show(Snapshot(NOW, contexts, views), []).parts[-1]
    assert "5 contexts, 3 domains, 0 streams" in str(shown)


def test_only_a_leader_says_where_replicas_are_and_what_is_copied() -> None:
    """A follower that answers in its place has not seen the others, and copies nothing."""
    mirror = {**stream(3, 0), "mirror": {"name": "ORDERS", "active": -1}}
    mirror["config"] = {**mirror["config"], "mirror": {"name": "ORDERS"}}
    unseen = [{"name": name, "current": False, "active": 60 * SECOND} for name in ("s2", "s3")]
    mirror["cluster"] = {**mirror["cluster"], "leader": "", "replicas": unseen}
    place = DomainView("c", "A", "A", "", "$JS.API", streams={"S": mirror})
    [finding] = diagnose(Snapshot(NOW, [ContextView("c")], [place]))
    assert finding.code == "STREAM_NO_LEADER"


def test_a_cluster_of_which_no_server_answers_is_named() -> None:
    """Nobody else knows what it holds: the others say that nothing is wrong."""
    gateway = {"gateway": {"gateways": [{"name": "east"}, {"name": "west"}]}}
    east = [ServerView(name, name, "east", varz=gateway) for name in ("e1", "e2")]
    [finding] = diagnose(Snapshot(NOW, servers=east))
    assert (finding.code, finding.about) == ("SERVER_SILENT", "cluster west")
    west = ServerView("w1", "w1", "west", varz=gateway)
    assert diagnose(Snapshot(NOW, servers=[*east, west])) == []


def test_the_command_lines_of_a_fix_name_their_context() -> None:
    """Servers are asked with the system account, streams with theirs."""
    behind = stream(3, 0)
    behind["cluster"]["replicas"][0] |= {"current": False, "active": 1, "lag": 5000}
    login = ["--context", "app"]
    place = DomainView("app", "A", "A", "hub", "$JS.hub.API", streams={"S": behind}, login=login)
    contexts = [
        ContextView("app", login=login),
        ContextView("ops", is_system=True, login=["--context", "ops"]),
    ]
    [finding] = diagnose(Snapshot(NOW, contexts, [place]))
    assert finding.code == "REPLICA_BEHIND"
    assert finding.advice.endswith("see its server: jsctl server report jetstream --context ops")


@pytest.mark.parametrize(
    ("seen", "stored", "advice"),
    [
        ((), (), "give the system account a context with jsctl context add system; then "),
        ((), ("system",), "make sure that --context system is a context of the system account; then "),
        (
            ("system",),
            ("system",),
            "give the system account a context with jsctl context add system-account; then ",
        ),
        (
            ("system", "system-account"),
            (),
            "give the system account a context with jsctl context add system-2; then ",
        ),
    ],
)
def test_a_context_of_that_name_may_be_another_ones(
    seen: Sequence[str], stored: Sequence[str], advice: str
) -> None:
    domain = DomainView("here", "A", "A", "", "$JS.API", streams={"S": stream(3, 1)}, consumers=())
    contexts = [ContextView(name, account="A") for name in ("here", *seen)]
    finding, *_ = diagnose(Snapshot(NOW, contexts, [domain], stored=stored))
    assert finding.advice.startswith(advice) and finding.advice.count("give") <= 1, finding.advice
    name = advice.partition("; ")[0].split()[-1] if "add" in advice else "system"
    assert f"--context {name}" in finding.advice.partition("; then ")[2]
