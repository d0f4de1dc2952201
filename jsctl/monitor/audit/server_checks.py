"""Checks of servers, clusters, leaf nodes, the meta group and accounts."""

from collections.abc import Iterator, Mapping

from jsctl.base.units import DAY, format_bytes, format_duration, parse_time_ns, pluralize
from jsctl.monitor.audit.archive import Archive, Json
from jsctl.monitor.audit.model import (
    Checks,
    Limits,
    NothingToCheck,
    Outcome,
    Problems,
    Threshold,
    build_shares,
)
from jsctl.monitor.trouble import is_away

CHECKS = Checks()

_CERTIFICATES: Mapping[str, str] = {
    "": "server",
    "cluster": "cluster",
    "gateway": "gateway",
    "leaf": "leaf node",
    "mqtt": "MQTT",
    "websocket": "websocket",
}
"""Parts of VARZ that have a certificate, and what it is for."""


def _load_servers(archive: Archive, kind: str) -> Iterator[tuple[str, str, Json]]:
    """Yield cluster, server and data of each answer of a kind. Raises NothingToCheck when there are none."""
    empty = True
    for tags, document in archive.load(artifact_type=kind):
        if data := document.get("data"):
            empty = False
            yield tags.get("cluster", ""), tags.get("server", ""), data
    if empty:
        raise NothingToCheck(f"the archive holds no {kind.replace('_', ' ')} of servers")


@CHECKS.add("SERVER_001", "Health", "All servers are healthy")
def _check_health(archive: Archive, limits: Limits) -> Problems:
    for _, server, data in _load_servers(archive, "health"):
        if data.get("status") not in ("ok", "", None):
            errors = [str(error.get("error", "")) for error in data.get("errors") or ()]
            reason = next(filter(None, [*errors, data.get("error")]), "")
            status = f"{data['status']} ({data.get('status_code', 0)})"
            yield f"{server}: {status}{': ' if reason else ''}{reason}", Outcome.WARN


@CHECKS.add("SERVER_002", "Version", "All servers run the same version")
def _check_versions(archive: Archive, limits: Limits) -> Problems:
    versions: dict[str, list[str]] = {}
    for _, server, data in _load_servers(archive, "variables"):
        versions.setdefault(str(data.get("version", "")), []).append(server)
    if len(versions) > 1:
        for version, servers in sorted(versions.items()):
            yield f"{version}: {', '.join(servers)}", Outcome.FAIL


@CHECKS.add(
    "SERVER_003",
    "CPU use",
    "No server is short of CPU",
    Threshold("cpu", "Percent of all its cores that a server may use", 90, "%"),
)
def _check_cpu(archive: Archive, limits: Limits) -> Problems:
    for cluster, server, data in _load_servers(archive, "variables"):
        share = float(data.get("cpu", 0)) / max(1, int(data.get("cores") or 1))
        if share > limits["cpu"]:
            yield f"{cluster}/{server}: {share:.1f}% of all cores", Outcome.FAIL


@CHECKS.add("SERVER_004", "Slow consumers", "No server had slow consumers")
def _check_slow_consumers(archive: Archive, limits: Limits) -> Problems:
    for cluster, server, data in _load_servers(archive, "variables"):
        if count := int(data.get("slow_consumers", 0)):
            yield f"{cluster}/{server}: {pluralize(count, 'slow consumer')}", Outcome.WARN


@CHECKS.add(
    "SERVER_005",
    "JetStream resources",
    "Servers stay below their limits for JetStream",
    *build_shares("memory", "store"),
)
def _check_resources(archive: Archive, limits: Limits) -> Problems:
    for _, server, data in _load_servers(archive, "jetstream_info"):
        config = data.get("config") or {}
        for key, used, allowed in (
            ("memory", data.get("memory", 0), config.get("max_memory", 0)),
            ("store", data.get("storage", 0), config.get("max_storage", 0)),
        ):
            if allowed > 0 and used > allowed * limits[key] / 100:
                yield f"{server}: {key} {format_bytes(used)} of {format_bytes(allowed)}", Outcome.WARN


@CHECKS.add("SERVER_006", "Blanks in domains", "No JetStream domain has a blank in its name")
def _check_domain_blanks(archive: Archive, limits: Limits) -> Problems:
    for cluster, server, data in _load_servers(archive, "jetstream_info"):
        domain = str((data.get("config") or {}).get("domain") or "")
        if _has_blank(domain):
            yield f"{cluster}/{server}: domain {domain!r}", Outcome.WARN


@CHECKS.add("SERVER_007", "Authentication", "All servers ask clients for a login")
def _check_authentication(archive: Archive, limits: Limits) -> Problems:
    for _, server, data in _load_servers(archive, "variables"):
        if not data.get("auth_required"):
            yield f"{server}: everybody may connect", Outcome.WARN


@CHECKS.add(
    "SERVER_008",
    "TLS certificates",
    "No TLS certificate has expired or will soon",
    Threshold("tls_expire_warning", "Days before expiry that are a warning", 30, "uint"),
    Threshold("tls_expire_critical", "Days before expiry that are a failure", 7, "uint"),
)
def _check_certificates(archive: Archive, limits: Limits) -> Problems:
    checked = False
    for cluster, server, data in _load_servers(archive, "variables"):
        for key, label in _CERTIFICATES.items():
            part = (data.get(key) or {}) if key else data
            expiry = part.get("tls_cert_not_after")
            if not isinstance(expiry, str) or expiry.startswith("0001-"):
                continue
            checked = True
            remaining = parse_time_ns(expiry) - parse_time_ns(str(data["now"]))
            when = "has expired" if remaining <= 0 else f"expires in {format_duration(remaining)}"
            sentence = f"{cluster}/{server}: the {label} certificate {when}, {expiry}"
            if remaining <= limits["tls_expire_critical"] * DAY:
                yield sentence, Outcome.FAIL
            elif remaining <= limits["tls_expire_warning"] * DAY:
                yield sentence, Outcome.WARN
    if not checked:
        raise NothingToCheck("no server has a certificate")


@CHECKS.add(
    "CLUSTER_001",
    "Memory outliers",
    "The servers of a cluster use about the same memory",
    Threshold("memory", "How many times the mean a server may use", 1.5),
)
def _check_memory(archive: Archive, limits: Limits) -> Problems:
    clusters: dict[str, dict[str, int]] = {}
    for cluster, server, data in _load_servers(archive, "variables"):
        clusters.setdefault(cluster, {})[server] = int(data.get("mem", 0))
    for cluster, servers in clusters.items():
        mean = sum(servers.values()) / len(servers)
        for server, used in servers.items():
            if used > mean * limits["memory"]:
                yield (
                    f"{cluster}/{server}: {format_bytes(used)}, the mean is {format_bytes(round(mean))}",
                    Outcome.WARN,
                )


@CHECKS.add("CLUSTER_002", "Uniform gateways", "The servers of a cluster have the same gateways configured")
def _check_gateways(archive: Archive, limits: Limits) -> Problems:
    clusters: dict[tuple[str, str], dict[str, list[str]]] = {}
    for cluster, server, data in _load_servers(archive, "gateways"):
        outbound = data.get("outbound_gateways") or {}
        inbound = data.get("inbound_gateways") or {}
        configured = {
            "outbound": [name for name, gateway in outbound.items() if gateway.get("configured")],
            "inbound": [
                name
                for name, remote_gateways in inbound.items()
                if any(gateway.get("configured") for gateway in remote_gateways)
            ],
        }
        for kind, names in configured.items():
            clusters.setdefault((cluster, kind), {})[server] = sorted(names)
    for (cluster, kind), servers in clusters.items():
        (first, expected), *others = servers.items()
        for server, names in others:
            if names != expected:
                yield (
                    f"{cluster}: {kind} gateways of {server} are {', '.join(names) or 'none'}, those of"
                    f" {first} {', '.join(expected) or 'none'}",
                    Outcome.FAIL,
                )


@CHECKS.add(
    "CLUSTER_003",
    "Many HA assets",
    "No server holds too many replicated streams and consumers",
    Threshold("assets", "Replicated streams and consumers of a server", 1000, "uint"),
)
def _check_assets(archive: Archive, limits: Limits) -> Problems:
    for _, server, data in _load_servers(archive, "jetstream_info"):
        if (assets := int(data.get("ha_assets", 0))) > limits["assets"]:
            yield f"{server}: {pluralize(assets, 'HA asset')}", Outcome.WARN


@CHECKS.add("CLUSTER_004", "Blanks in cluster names", "No cluster has a blank in its name")
def _check_cluster_blanks(archive: Archive, limits: Limits) -> Problems:
    for cluster in archive.values("cluster"):
        if _has_blank(cluster):
            yield f"cluster {cluster!r}", Outcome.FAIL


@CHECKS.add("LEAF_001", "Blanks in leaf node names", "No leaf node has a blank in its name")
def _check_leaf_blanks(archive: Archive, limits: Limits) -> Problems:
    names = {
        (cluster, str(leaf.get("name", "")))
        for cluster, _, data in _load_servers(archive, "leafs")
        for leaf in data.get("leafs") or ()
    }
    for cluster, name in sorted(names):
        if _has_blank(name):
            yield f"{cluster}: leaf node {name!r}", Outcome.FAIL


def _load_meta_groups(archive: Archive) -> Iterator[tuple[str, str, Json]]:
    """Yield cluster, server and meta group of each server with JetStream in a cluster."""
    for cluster, server, data in _load_servers(archive, "jetstream_info"):
        if not data.get("disabled") and data.get("meta_cluster"):
            yield cluster, server, data["meta_cluster"]


@CHECKS.add("META_001", "Offline members", "All servers of a meta group are online")
def _check_offline(archive: Archive, limits: Limits) -> Problems:
    for cluster, server, meta in _load_meta_groups(archive):
        for peer in meta.get("replicas") or ():
            if is_away(peer):
                yield f"{cluster}: {server} considers {peer.get('name')} offline", Outcome.FAIL


@CHECKS.add("META_002", "Meta leader", "All servers of a meta group know the same leader")
def _check_meta_leader(archive: Archive, limits: Limits) -> Problems:
    clusters: dict[str, dict[str, list[str]]] = {}
    for cluster, server, meta in _load_meta_groups(archive):
        clusters.setdefault(cluster, {}).setdefault(str(meta.get("leader") or ""), []).append(server)
    for cluster, leaders in clusters.items():
        if "" in leaders:
            yield f"{cluster}: no meta leader for {', '.join(leaders[''])}", Outcome.FAIL
        elif len(leaders) > 1:
            sides = "; ".join(
                f"{leader} for {', '.join(followers)}" for leader, followers in sorted(leaders.items())
            )
            yield f"{cluster}: different meta leaders: {sides}", Outcome.FAIL


@CHECKS.add(
    "ACCOUNTS_001",
    "Account limits",
    "Accounts stay below the limits of their JWT",
    *build_shares("connections", "subscriptions"),
)
def _check_account_limits(archive: Archive, limits: Limits) -> Problems:
    for tags, document in archive.load(artifact_type="account_info"):
        data = document.get("data") or {}
        claim = ((data.get("decoded_jwt") or {}).get("nats") or {}).get("limits") or {}
        for label, key, used, allowed in (
            ("client connections", "connections", data.get("client_connections", 0), claim.get("conn", -1)),
            ("leaf nodes", "connections", data.get("leafnode_connections", 0), claim.get("leaf", -1)),
            ("subscriptions", "subscriptions", data.get("subscriptions", 0), claim.get("subs", -1)),
        ):
            if allowed > 0 and used > allowed * limits[key] / 100:
                worst = Outcome.FAIL if used > allowed else Outcome.WARN
                sentence = f"account {tags['account']} on {tags['server']}: {used:,} of {allowed:,} {label}"
                yield sentence, worst


def _has_blank(name: str) -> bool:
    return any(char.isspace() for char in name)
