"""Leaf node connections."""

from collections import defaultdict
from collections.abc import Iterator

from jsctl.monitor.doctor.finding import Finding
from jsctl.monitor.doctor.snapshot import Snapshot


def system_not_linked(snapshot: Snapshot) -> Iterator[Finding]:
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
            yield Finding(
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
