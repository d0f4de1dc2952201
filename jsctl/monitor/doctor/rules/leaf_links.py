"""Leaf node connections and gateways."""

from collections import defaultdict
from collections.abc import Iterator

from jsctl.monitor.doctor.rules.origins import is_unanswered
from jsctl.monitor.doctor.snapshot import Snapshot
from jsctl.monitor.trouble import Trouble


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
    answering = {server.name for server in snapshot.servers}
    linked: dict[str, set[str]] = defaultdict(set)
    for server in snapshot.servers:
        for leaf in server.leafz.get("leafs") or ():
            name = str(leaf.get("name") or "")
            if name not in ("", *answering) and leaf.get("account") == server.varz.get("system_account"):
                linked[name].add(server.name)
    for name, others in sorted(linked.items()):
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
    answering = {server.cluster for server in snapshot.servers if server.varz}
    configured: dict[str, set[str]] = defaultdict(set)
    for server in snapshot.servers:
        for gateway in (server.varz.get("gateway") or {}).get("gateways") or ():
            configured[str(gateway.get("name") or "")].add(server.cluster)
    for name, others in sorted(configured.items()):
        if name in answering:
            continue
        verb = "has" if len(others) == 1 else "have"
        yield Trouble.of_network(
            "SERVER_SILENT",
            f"cluster {name}",
            f"{', '.join(sorted(others))} {verb} a gateway to it, and none of its servers answers",
            "its streams cannot be reached from here, and its servers count as members of JetStream that are"
            " away",
            f"start the servers of cluster {name}, or mend its network:"
            f" {snapshot.build_system_line('server list')} shows which answer; if the cluster was removed,"
            " take its gateway out of the configurations",
            [f"cluster {name}"],
        )
