"""Servers that differ in what should be the same, that are offline, and their leaf nodes and gateways."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median_low
from typing import Any

from jsctl.base.units import SECOND, format_count, format_duration, pluralize
from jsctl.jetstream.api import build_api_prefix
from jsctl.monitor.doctor.rules.origins import is_unanswered
from jsctl.monitor.doctor.snapshot import ServerView, Snapshot
from jsctl.monitor.rules import objects as object_rules
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.rules.contexts import choose_code
from jsctl.monitor.trouble import Trouble, find_lagging_replicas, has_leader

_MAX_DIFFERENCE = SECOND
"""ns by which clocks may differ: a busy server answers late."""


def clocks_apart(snapshot: Snapshot) -> Iterator[Trouble]:
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
            yield Trouble.of_network(
                "CLOCKS_APART",
                f"server {server.name}",
                f"its clock is {format_duration(abs(difference))} {where} those of other servers",
                "messages get wrong times, so that limits of age, delayed redelivery and starts by time"
                " are off; logins expire early or late",
                "correct the clock of its machine, and keep it right with NTP:"
                f" chronyc makestep on {server.name}",
                [f"server {server.name}"],
            )


def api_level_differs(snapshot: Snapshot) -> Iterator[Trouble]:
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
        yield Trouble.of_network(
            "API_LEVEL_DIFFERS",
            f"cluster {cluster}",
            f"its servers have different JetStream API levels ({servers_by_level})",
            "a stream that needs the higher level goes offline on the other servers",
            f"upgrade {', '.join(outdated)} to the version of the others, one server at a time",
            [f"server {name}" for name in outdated],
        )


def meta_no_leader(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield domains whose servers have no leader."""
    groups: dict[tuple[str, str], list[ServerView]] = defaultdict(list)
    for server in snapshot.servers:
        if server.jsz.get("meta_cluster") is not None:
            groups[server.network, server.domain].append(server)
    leaderless = {
        (view.network, view.domain)
        for view in snapshot.domains
        if choose_code(view.error) == "META_NO_LEADER"
    }
    leaderless |= {place for place, servers in groups.items() if _is_leaderless(servers)}
    for network, domain in sorted(leaderless):
        servers = groups.get((network, domain), [])
        size = max(
            (int(server.jsz["meta_cluster"].get("cluster_size") or 0) for server in servers), default=0
        )
        names = [server.name for server in servers] or sorted(
            server.name
            for server in snapshot.servers
            if (server.network, server.domain) == (network, domain) and server.jetstream
        )
        has_majority = len(names) > size // 2
        verb = "answers" if len(names) == 1 else "answer"
        if size and has_majority:
            all_words = f"{len(names)} of its {pluralize(size, 'server')}" if size > len(names) else "they"
            is_most = ", which is a majority," if size > len(names) else ""
            observation = f"{all_words} answer{is_most} and are electing one"
        elif size:
            observation = f"of its {pluralize(size, 'server')} only {', '.join(names)} {verb}"
        else:
            observation = "a server answers that too few of them are there"
        shows = snapshot.build_system_line("server report jetstream")
        yield Trouble.of_network(
            "META_NO_LEADER",
            f"domain {domain}" if domain else "JetStream",
            f"its servers have no leader: {observation}",
            "streams and consumers cannot be created, changed or listed until"
            + (" one is elected" if size and has_majority else " a majority is back"),
            f"wait some seconds; if none is elected, see which servers reach each other: {shows}"
            if size and has_majority
            else f"start the servers that are away: {shows} shows them",
            [f"domain {domain}", *snapshot.copies_through(build_api_prefix(domain))],
        )


def _is_leaderless(servers: list[ServerView]) -> bool:
    return not any(server.jsz["meta_cluster"].get("leader") for server in servers)


def replica_offline(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers that hold replicas of streams or consumers, and are offline or behind."""
    objects: dict[str, list[str]] = defaultdict(list)
    states: dict[str, str] = {}
    surplus: dict[str, int] = {}
    for server in snapshot.servers:
        meta = server.jsz.get("meta_cluster") or {}
        if meta.get("leader") != server.name:
            continue
        for trouble, peer in _find_away({"cluster": meta}, snapshot):
            surplus[peer] = _count_surplus({"cluster": meta}, snapshot)
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
                is_first = not any(name.startswith("stream ") for name in objects[peer])
                count = _count_surplus(info, snapshot)
                surplus[peer] = count if is_first else min(count, surplus[peer])
                objects[peer].append(consumer_name or f"stream {view.format_stream(name)}")
                states.setdefault(peer, trouble)
    for peer, held_objects in sorted(objects.items()):
        if all(name.startswith("meta group") for name in held_objects):
            continue  # one that was removed stays a member until `peer-remove`
        streams = sum(name.startswith("stream ") for name in held_objects)
        yield Trouble.of_network(
            "REPLICA_OFFLINE",
            f"server {peer}",
            f"{states[peer]}; it holds replicas of {pluralize(streams, 'stream')}"
            if streams
            else states[peer],
            _describe_danger(streams, surplus[peer]),
            f"start server {peer}: {snapshot.build_system_line('server list')} shows which run"
            + _describe_removal(snapshot, peer),
            list(dict.fromkeys([f"server {peer}", *held_objects])),
        )


def _count_surplus(info: dict[str, Any], snapshot: Snapshot) -> int:
    """Return how many more servers of a group may fail before it stops."""
    group = info.get("cluster") or {}
    size = int(group.get("cluster_size") or 0) or 1 + len(group.get("replicas") or ())
    return size - sum(1 for _ in _find_away(info, snapshot)) - (size // 2 + 1)


def _describe_danger(streams: int, surplus: int) -> str:
    fail = "one more server fails" if surplus <= 0 else f"{format_count(surplus + 1)} more servers fail"
    if not streams:
        return f"if {fail}, streams and consumers cannot be created or changed any more"
    return f"if {fail} that hold them, streams stop; until it is back they have fewer copies"


def _describe_removal(snapshot: Snapshot, peer: str) -> str:
    """Return how to take a server out of the cluster for ever; empty if it may hold the only copy of a
    stream."""
    if any(view.silent for view in snapshot.domains):
        return "; it may hold the only copy of streams that do not answer"
    line = snapshot.build_system_line("server cluster peer-remove", peer)
    return f"; if it will not come back, and held no stream of one replica: {line}"


def stream_no_leader(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield streams that have no leader or do not answer."""
    for view in snapshot.domains:
        silent = {name: f"the server says: {reason}" for name, reason in view.silent.items()}
        for name, info in view.streams.items():
            if not has_leader(info):
                silent[name] = "it has no leader"
        for name, reason in sorted(silent.items()):
            yield Trouble.of_network(
                "STREAM_NO_LEADER",
                f"stream {view.format_stream(name)}",
                reason,
                "nothing can be stored in it or read from it",
                # A server keeps, but does not run, the streams of an account that was without JetStream for a
                # while.
                "start the servers that hold it"
                f" ({snapshot.build_system_line('server report jetstream')} shows which are away); if all"
                f" run, restart those that {snapshot.build_system_line('server report health')} calls"
                " unhealthy, one at a time",
                [f"stream {view.format_stream(name)}"],
            )


def _find_away(info: dict[str, Any], snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Yield the followers that are offline or behind, each with a description of its state."""
    for replica in find_lagging_replicas(info, snapshot.at):
        if replica.bad:
            yield f"it is {replica.state}", replica.server


def limit_near(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers whose storage is nearly used."""
    yield from _find_in_servers(snapshot, "LIMIT_NEAR", "at the limit no stream on it takes messages")


def meta_rescue(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers whose meta group acts without a majority."""
    rule = object_rules.META_RESCUE
    remove = snapshot.build_system_line("server cluster peer-remove")
    yield from _find_in_servers(snapshot, rule.code, rule.why, f"{rule.fix}: {remove}")


def _find_in_servers(snapshot: Snapshot, code: str, why: str, fix: str = "") -> Iterator[Trouble]:
    """Yield what a rule of `rules.objects` finds in servers. fix: empty for the advice that it gives."""
    for server in snapshot.servers:
        for trouble in object_rules.check_server(server.jsz):
            if trouble.code == code:
                yield trouble.locate(f"server {server.name}", why, fix or trouble.advice)


def system_not_linked(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield leaf nodes that connect accounts, but not the system account."""
    accounts: dict[str, set[str]] = defaultdict(set)
    systems: dict[str, str] = {}
    for server in snapshot.servers:
        system = str(server.varz.get("system_account") or "")
        for leaf in server.leafz.get("leafs") or ():
            # Each side has the connection: the spoke is the one that made it.
            name = server.name if leaf.get("is_spoke") else str(leaf.get("name") or leaf.get("ip") or "")
            accounts[name].add(str(leaf.get("account") or ""))
            systems[name] = system
    for name, linked in sorted(accounts.items()):
        if systems[name] and systems[name] not in linked:
            yield Trouble.of_network(
                "SYSTEM_NOT_LINKED",
                f"leaf node {name}",
                f"it connects account {', '.join(sorted(linked))}, and not the system account"
                f" {systems[name]}",
                "its servers are missing in every report from the other side, and accounts that are"
                " pushed to one side do not reach the other",
                "add a remote to its leafnodes: {urls: [...], account: "
                + f"{systems[name]}, credentials or user of the system account}}; if the two sides are to"
                " stay apart, ignore this: --ignore SYSTEM_NOT_LINKED",
                [f"server {name}"],
            )


def server_silent(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers with which leaf nodes, or whose leaf nodes, are connected and that do not answer.

    A machine that hangs keeps its connections for minutes; only the links of the system account show that it
    should answer.
    """
    answering = {(server.network, server.name) for server in snapshot.servers}
    linked: dict[tuple[str, str], set[str]] = defaultdict(set)
    for server in snapshot.servers:
        for leaf in server.leafz.get("leafs") or ():
            place = server.network, str(leaf.get("name") or "")
            is_system = leaf.get("account") == server.varz.get("system_account")
            if place[1] and place not in answering and is_system:
                linked[place].add(server.name)
    for (_, name), others in sorted(linked.items()):
        verb = "is" if len(others) == 1 else "are"
        # Which domain it has is not known: whatever is not answered may be its.
        cut_off = [link.object for link in snapshot.links() if is_unanswered(link)]
        yield Trouble.of_network(
            "SERVER_SILENT",
            f"server {name}",
            f"{', '.join(sorted(others))} {verb} connected with it, and it does not answer",
            "nothing passes through it, although its connections look open; mirrors and sources on the other"
            " side get nothing, and show lag 0 and no error",
            f"see whether server {name} hangs or its machine is suspended; if it does not go on by itself,"
            f" restart it: {snapshot.build_system_line('server list')} shows which answer",
            [f"server {name}", *cut_off],
        )
    yield from _find_silent_clusters(snapshot)


def _find_silent_clusters(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield clusters to which servers are to have a gateway, and none of whose servers answers.

    What only such a cluster holds is in no answer of the others.
    """
    answering = {(server.network, server.cluster) for server in snapshot.servers if server.varz}
    configured: dict[tuple[str, str], set[str]] = defaultdict(set)
    for server in snapshot.servers:
        for gateway in (server.varz.get("gateway") or {}).get("gateways") or ():
            configured[server.network, str(gateway.get("name") or "")].add(server.cluster)
    for (network, name), others in sorted(configured.items()):
        if (network, name) in answering:
            continue
        verb = "has" if len(others) == 1 else "have"
        yield Trouble.of_network(
            "SERVER_SILENT",
            f"cluster {name}",
            f"{', '.join(sorted(others))} {verb} a gateway to it, and none of its servers answers",
            "its streams cannot be reached from here, and its servers count as members of JetStream that are"
            " away",
            f"start the servers of cluster {name}, or repair its network:"
            f" {snapshot.build_system_line('server list')} shows which answer; if the cluster was removed,"
            " take its gateway out of the configurations",
            [f"cluster {name}"],
        )


RULES = (
    Rule("SERVER_SILENT", "a server that others are connected with does not answer", "servers"),
    Rule("SYSTEM_NOT_LINKED", "a leaf node does not connect the system account", "servers"),
    Rule("API_LEVEL_DIFFERS", "servers of a cluster have different API levels", "servers"),
    Rule("CLOCKS_APART", "clocks of servers differ", "servers"),
)

CHECKS = (
    meta_rescue,
    meta_no_leader,
    server_silent,
    system_not_linked,
    replica_offline,
    stream_no_leader,
    api_level_differs,
    clocks_apart,
    limit_near,
)
