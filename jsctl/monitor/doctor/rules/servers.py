"""Servers that differ in what should be the same, and servers that are offline."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median_low

from jsctl.jetstream.api import build_api_prefix
from jsctl.monitor.doctor.finding import Finding
from jsctl.monitor.doctor.rules.contexts import has_no_leader
from jsctl.monitor.doctor.snapshot import ServerView, Snapshot
from jsctl.monitor.trouble import find_lagging_replicas, has_leader, is_settled
from jsctl.units import SECOND, format_duration, pluralize

_MAX_DIFFERENCE = SECOND
"""ns by which clocks may differ: a busy server answers late."""


def clocks_apart(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield servers whose clocks differ from those of most others."""
    clocks = [(server, server.ahead) for server in snapshot.servers if server.ahead is not None]
    if len(clocks) < 2:
        return
    median = median_low(ahead for _, ahead in clocks)
    uncertainty = min(server.reliable for server, ahead in clocks if ahead == median)
    for server, ahead in clocks:
        difference = ahead - median
        if abs(difference) > _MAX_DIFFERENCE + server.reliable + uncertainty:
            where = "ahead of" if difference > 0 else "behind"
            yield Finding(
                "CLOCKS_APART",
                f"server {server.name}",
                f"its clock is {format_duration(abs(difference))} {where} those of other servers",
                "messages get wrong times, so that limits of age, delayed redelivery and starts by time"
                " are off; logins expire early or late",
                "correct the clock of its machine, and keep it right with NTP:"
                f" chronyc makestep on {server.name}",
                [f"server {server.name}"],
            )


def api_level_differs(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield servers of one cluster with different JetStream API levels."""
    clusters: dict[tuple[str, str], dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for server in snapshot.servers:
        level = (server.jsz.get("api") or {}).get("level")
        if server.jetstream and level is not None and server.cluster:
            clusters[server.domain, server.cluster][int(level)].append(server.name)
    for (_, cluster), levels in clusters.items():
        if len(levels) < 2:
            continue
        servers_by_level = "; ".join(
            f"level {level}: {', '.join(sorted(names))}" for level, names in sorted(levels.items())
        )
        outdated = sorted(name for level, names in levels.items() if level < max(levels) for name in names)
        yield Finding(
            "API_LEVEL_DIFFERS",
            f"cluster {cluster}",
            f"its servers have different JetStream API levels ({servers_by_level})",
            "a stream that needs the higher level goes offline on the other servers",
            f"upgrade {', '.join(outdated)} to the version of the others, one server at a time",
            [f"server {name}" for name in outdated],
        )


def meta_no_leader(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield domains whose servers have no leader."""
    groups: dict[str, list[ServerView]] = defaultdict(list)
    for server in snapshot.servers:
        if server.jsz.get("meta_cluster") is not None:
            groups[server.domain].append(server)
    leaderless = {view.domain for view in snapshot.domains if has_no_leader(view)}
    for domain in sorted(leaderless | {name for name, servers in groups.items() if _is_leaderless(servers)}):
        servers = groups.get(domain, [])
        size = max(
            (int(server.jsz["meta_cluster"].get("cluster_size") or 0) for server in servers), default=0
        )
        names = [server.name for server in servers] or sorted(
            server.name for server in snapshot.servers if server.domain == domain and server.jetstream
        )
        observation = (
            f"of its {pluralize(size, 'server')} only {', '.join(names)}"
            f" {'answers' if len(names) == 1 else 'answer'}"
            if size > len(names)
            else "they answer, and are electing one"
            if size
            else "no majority of its servers is there"
        )
        yield Finding(
            "META_NO_LEADER",
            f"domain {domain}" if domain else "JetStream",
            f"its servers have no leader: {observation}",
            "streams and consumers cannot be created, changed or listed until a majority is back",
            "start the servers that are away (jsctl server report jetstream shows them); for one that"
            " will not come back: jsctl server cluster peer-remove NAME",
            [f"domain {domain}", *snapshot.copies_through(build_api_prefix(domain))],
        )


def _is_leaderless(servers: list[ServerView]) -> bool:
    return not any(server.jsz["meta_cluster"].get("leader") for server in servers)


def replica_offline(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield servers that hold replicas, and are offline or behind."""
    objects: dict[str, list[str]] = defaultdict(list)
    states: dict[str, str] = {}
    for server in snapshot.servers:
        meta = server.jsz.get("meta_cluster") or {}
        if meta.get("leader") != server.name:
            continue
        for trouble, peer in _find_away({"cluster": meta}, snapshot):
            objects[peer].append(f"meta group of domain {server.domain}" if server.domain else "meta group")
            states[peer] = trouble
    for view in snapshot.domains:
        for info in [*view.streams.values(), *(view.consumers or ())]:
            name = str(info["config"].get("name") or info.get("name") or "")
            consumer_name = (
                f"consumer {view.format_stream(info['stream_name'])} > {name}"
                if "stream_name" in info
                else ""
            )
            for trouble, peer in _find_away(info, snapshot):
                objects[peer].append(consumer_name or f"stream {view.format_stream(name)}")
                states.setdefault(peer, trouble)
    for peer, held_objects in sorted(objects.items()):
        streams = sum(name.startswith("stream ") for name in held_objects)
        yield Finding(
            "REPLICA_OFFLINE",
            f"server {peer}",
            f"{states[peer]}; it holds replicas of {pluralize(streams, 'stream')}"
            if streams
            else states[peer],
            "if one more server fails, these streams stop; until it is back they have fewer copies",
            f"start server {peer} (jsctl server list shows which run); for one that will not come back:"
            f" jsctl server cluster peer-remove {peer}",
            list(dict.fromkeys([f"server {peer}", *held_objects])),
        )


def replicas_few(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield streams with fewer replicas than configured, as after an evacuation."""
    for view in snapshot.domains:
        for name, info in view.streams.items():
            configured = int(info["config"].get("num_replicas") or 1)
            group = info.get("cluster") or {}
            existing = 1 + len(group.get("replicas") or ())
            if group.get("leader") and existing < configured and is_settled(info.get("created"), snapshot.at):
                yield Finding(
                    "REPLICAS_FEW",
                    f"stream {view.format_stream(name)}",
                    f"it has {existing} of {pluralize(configured, 'replica')},"
                    " as after an evacuation of servers",
                    "each further server that fails brings it closer to a stop, or to losing messages",
                    f"bring a server back, then: jsctl stream edit {name} --replicas {existing} --force,"
                    f" and the same with --replicas {configured}",
                    [f"stream {view.format_stream(name)}"],
                )


def stream_without_leader(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield streams that have no leader or do not answer."""
    for view in snapshot.domains:
        silent = {name: f"the server says: {reason}" for name, reason in view.silent.items()}
        for name, info in view.streams.items():
            if not has_leader(info):
                silent[name] = "it has no leader"
        for name, reason in sorted(silent.items()):
            yield Finding(
                "STREAM_NO_LEADER",
                f"stream {view.format_stream(name)}",
                reason,
                "nothing can be stored in it or read from it",
                # A server keeps, but does not run, the streams of an account that was without JetStream for a
                # while.
                "start the servers that hold it (jsctl server report jetstream shows which are away);"
                " if all run, restart those that jsctl server report health calls unhealthy, one at a time",
                [f"stream {view.format_stream(name)}"],
            )


def _find_away(info: dict[str, object], snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Yield the followers that are offline or behind, each with a description of its state."""
    for replica in find_lagging_replicas(info, snapshot.at):
        if replica.bad:
            yield f"it is {replica.state}", replica.server
