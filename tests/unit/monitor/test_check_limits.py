"""Numbers exactly at their limits, in the checks and rules of the monitor."""

import ast
import asyncio
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import click
import pytest

from jsctl.base.units import NEVER, SECOND, format_rfc3339
from jsctl.commands.server.check import server as server_verbs
from jsctl.commands.server.check import stream as stream_verbs
from jsctl.jetstream.api import Json
from jsctl.jetstream.message import change_estimate
from jsctl.monitor.check import servers, streams
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.rules import objects
from jsctl.monitor.rules.contexts import SOON, check_expiry
from jsctl.monitor.stream.rows import ReplicationRow


@pytest.mark.parametrize(
    ("lag", "active", "criticals"),
    [
        (10, 5 * SECOND, []),
        (11, 5 * SECOND, ["n2 is 11 operations behind"]),
        (10, 6 * SECOND, ["n2 was seen 6.00s ago"]),
    ],
)
def test_a_replica_is_bad_beyond_its_limit(lag: int, active: int, criticals: list[str]) -> None:
    check = Check("stream", "ORDERS")
    cluster = {"leader": "n1", "replicas": [{"name": "n2", "lag": lag, "active": active}]}
    limits = {"peer-expect": 2, "peer-lag-critical": 10, "peer-seen-critical": 5 * SECOND}
    streams._check_peers(check, cluster, limits)
    assert check.criticals == criticals


def test_replicas_are_counted_with_the_leader() -> None:
    check = Check("stream", "ORDERS")
    streams._check_peers(check, {"leader": "n1", "replicas": [{"name": "n2"}]}, {"peer-expect": 3})
    assert check.criticals == ["2 replicas, expected 3"]


@pytest.mark.parametrize(("expected", "criticals"), [(0, []), (1, ["0 replicas, expected 1"])])
def test_a_stream_outside_clusters_has_no_replicas(expected: int, criticals: list[str]) -> None:
    check = Check("stream", "ORDERS")
    streams._check_peers(check, {}, {"peer-expect": expected})
    assert check.criticals == criticals


@pytest.mark.parametrize(
    ("lag", "active", "lagged", "inactive"),
    [(9, 5 * SECOND - 1, 0, 0), (10, 5 * SECOND - 1, 1, 0), (9, 5 * SECOND, 0, 1), (9, NEVER, 0, 1)],
)
def test_a_source_is_bad_at_its_limit(lag: int, active: int, lagged: int, inactive: int) -> None:
    check = Check("stream", "ALL")
    info = {"sources": [{"name": "ORDERS", "lag": lag, "active": active}]}
    streams._check_origins(check, info, {"lag-critical": 10, "seen-critical": 5 * SECOND})
    counts = {measure.name: measure.value for measure in check.measures}
    assert (counts["sources_lagged"], counts["sources_inactive"]) == (lagged, inactive)
    assert bool(check.criticals) == bool(lagged or inactive)


@pytest.mark.parametrize(
    ("lag", "active", "criticals"),
    [
        (10, 5 * SECOND, []),
        (11, 5 * SECOND, ["n2 is behind"]),
        (10, 5 * SECOND + 1, ["n2 is inactive"]),
    ],
)
def test_a_peer_of_the_meta_group_is_bad_beyond_its_limit(
    lag: int, active: int, criticals: list[str]
) -> None:
    check = Check("meta", "JetStream Meta Cluster")
    peers = [{"name": "n2", "current": True, "lag": lag, "active": active}]
    limits = {"expect": 2, "lag-critical": 10, "seen-critical": 5 * SECOND}
    servers.check_peers(check, {"leader": "n1", "replicas": peers}, limits)
    assert check.criticals == criticals


@pytest.mark.parametrize(
    ("cluster", "problems"),
    [
        ({"replicas": [{"name": "n2"}]}, ["has no leader"]),
        ({"leader": "n1"}, ["has 1 of 2 replicas"]),
        ({"leader": "n1", "replicas": [{"name": "n2", "offline": True}]}, ["misses n2"]),
        ({"leader": "n1", "replicas": [{"name": "n2", "lag": 10, "active": 5 * SECOND}]}, []),
        (
            {"leader": "n1", "replicas": [{"name": "n2", "lag": 11}]},
            ["n2 is 11 operations behind"],
        ),
        (
            {"leader": "n1", "replicas": [{"name": "n2", "active": 6 * SECOND}]},
            ["has not seen n2 for 6.00s"],
        ),
        ({"leader": "n1", "replicas": [{"name": "n2", "active": 6 * SECOND, "current": True}]}, []),
    ],
)
def test_replicas_of_a_stream(cluster: Json, problems: list[str]) -> None:
    info = {"config": {"num_replicas": 2}, "cluster": cluster}
    found = streams._find_replica_problems(info, 10, 5 * SECOND)
    assert [words for _, words in found] == problems


def row(*, lag: int = 0, active: int = 0) -> ReplicationRow:
    return ReplicationRow("", "", "COPY", "mirror", "", "ORDERS", "", active, lag, "")


@pytest.mark.parametrize(("active", "codes"), [(30 * SECOND - 1, []), (30 * SECOND, ["LINK_FAILED"])])
def test_an_origin_is_silent_after_30_seconds(active: int, codes: list[str]) -> None:
    found = objects.check_link(row(active=active), [0], None, datetime.now(UTC))
    assert [trouble.code for trouble in found] == codes


@pytest.mark.parametrize(("lags", "codes"), [([5, 5], []), ([5, 5, 5], ["LINK_IDLE"]), ([0, 0, 0], [])])
def test_a_lag_is_stuck_after_three_rounds(lags: list[int], codes: list[str]) -> None:
    found = objects.check_link(row(lag=lags[-1]), lags, None, datetime.now(UTC))
    assert [trouble.code for trouble in found] == codes


def test_a_mirror_that_stores_messages_is_not_stuck() -> None:
    """One message may be on its way whenever it is looked at; sources may have others of theirs to store."""
    moving = row(lag=1)
    for link, rate, codes in (
        (moving, 60.0, []),
        (moving, 0.0, ["LINK_IDLE"]),
        (moving._replace(kind="source"), 60.0, ["LINK_IDLE"]),
    ):
        found = objects.check_link(link, [1, 1, 1], None, datetime.now(UTC), rate=rate)
        assert [trouble.code for trouble in found] == codes


@pytest.mark.parametrize(
    ("remaining", "words"), [(-1, "has expired"), (0, "has expired"), (1, "expires in"), (SOON, "expires in")]
)
def test_a_login_ends_at_its_time(remaining: int, words: str) -> None:
    [trouble] = check_expiry("its JWT", 1_000 * SECOND + remaining, 1_000 * SECOND)
    assert words in trouble.words
    assert check_expiry("its JWT", 1_000 * SECOND + SOON + 1, 1_000 * SECOND) == []


def test_all_messages_are_too_old_when_the_last_one_is() -> None:
    """None is asked for then."""
    at = 1_700_000_000 * SECOND
    info: Json = {
        "config": {"name": "ORDERS"},
        "state": {
            "messages": 7,
            "bytes": 70,
            "first_ts": format_rfc3339(at - 1),
            "last_ts": format_rfc3339(at),
        },
    }
    loss = asyncio.run(change_estimate._estimate_older(None, info, at))  # type: ignore[arg-type]
    assert (loss.messages, loss.bytes) == (7, 70)


@pytest.mark.parametrize(
    ("leader", "rescue", "words"),
    [
        ("n1", False, []),
        ("", False, ["meta group has no leader"]),
        ("n1", True, ["rescue: meta group acts with 2 of 5 servers"]),
        ("", True, ["rescue: meta group may act with 2 of 5 servers", "meta group has no leader"]),
    ],
)
def test_a_meta_group_without_a_leader_or_majority(leader: str, rescue: bool, words: list[str]) -> None:
    meta = {"leader": leader, "rescue": rescue, "quorum_needed": 2, "cluster_size": 5}
    assert [trouble.words for trouble in objects.check_server({"meta_cluster": meta})] == words
    assert objects.check_server({}) == [], "a server alone has no meta group"


@pytest.mark.parametrize(
    ("verbs", "checks"), [(server_verbs, servers), (stream_verbs, streams)], ids=["servers", "streams"]
)
def test_each_threshold_is_compared(verbs: ModuleType, checks: ModuleType) -> None:
    """A check looks thresholds up by the name of their flag, with or without its -warn or -critical."""
    tree = ast.parse(Path(str(checks.__file__)).read_text())
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    commands = [value for value in vars(verbs).values() if isinstance(value, click.Command)]
    params = [param for command in commands for param in command.params]
    names = {str(each.name).replace("_", "-") for each in params if getattr(each, "into", "") == "thresholds"}
    stems = {name: name.removesuffix("-warn").removesuffix("-critical") for name in names}
    unread = {name for name, stem in stems.items() if not texts & {name, stem}}
    assert names and not unread
