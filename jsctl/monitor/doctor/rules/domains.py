"""Domain names: one that two JetStreams share, and JetStream without a domain."""

from collections import defaultdict
from collections.abc import Iterator

from jsctl.base.units import format_count
from jsctl.monitor.doctor.snapshot import ServerView, Snapshot
from jsctl.monitor.trouble import Trouble


def domain_twice(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield domains that several leaf nodes or clusters have without being one JetStream."""
    domains: dict[str, dict[str, list[ServerView]]] = defaultdict(lambda: defaultdict(list))
    for server in snapshot.servers:
        if server.jetstream and server.domain:
            domains[server.domain][server.cluster or server.id].append(server)
    for domain, clusters in domains.items():
        servers = [server for members in clusters.values() for server in members]
        if len(clusters) < 2 or _is_single_jetstream(snapshot, domain, servers):
            continue
        names = sorted(server.name for server in servers)
        yield Trouble.of_network(
            "DOMAIN_TWICE",
            f"domain {domain}",
            f"{format_count(len(clusters))} JetStreams have this domain: servers {', '.join(names)}",
            f"each of them answers requests on $JS.{domain}.API: streams are created, found and mirrored"
            " sometimes on one of them, sometimes on another",
            "configure each with a domain of its own (jetstream { domain: ... }), and restart it",
            [f"server {name}" for name in names],
        )


def _is_single_jetstream(snapshot: Snapshot, domain: str, servers: list[ServerView]) -> bool:
    """Return whether the clusters of a domain are one JetStream: gateways connect them, and one leader
    answers."""
    if domain in snapshot.answers:
        return snapshot.answers[domain] < 2
    return any((server.varz.get("gateway") or {}).get("name") for server in servers)


def domain_unnamed(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers with JetStream without a domain that are connected to one with a domain."""
    named = sorted({server.domain for server in snapshot.servers if server.jetstream and server.domain})
    unnamed = [server for server in snapshot.servers if server.jetstream and not server.domain]
    if not named:
        return
    for server in unnamed:
        yield Trouble.of_network(
            "DOMAIN_UNNAMED",
            f"server {server.name}",
            f"its JetStream has no domain, and it is connected to domain {', '.join(named)}",
            "clients elsewhere cannot reach its streams, no mirror can name it, and requests on $JS.API"
            " may be answered by either side",
            f"write jetstream {{ domain: {server.name} }} into its configuration, and restart it",
            [f"server {server.name}"],
        )
