"""Leaders of streams and consumers: which servers have how many, and which ones moved."""

from collections import Counter
from collections.abc import Iterable, Sequence

from jsctl.errors import ExitStatus
from jsctl.jetstream.cluster.balance import Move
from jsctl.views.result import Column, Part, Result, Table, Text
from jsctl.views.server.servers import leader_share
from jsctl.views.shared.text import plural


def leader_report(leaders: Iterable[tuple[str, str]], what: str) -> Part:
    """Return a table of how many streams or consumers each server leads.

    leaders: cluster and server of each stream or consumer. what: "Streams" or "Consumers".
    """
    counts = Counter(leaders)
    if not counts:
        return Text(f"No leaders: these {what.lower()} are not in a cluster")
    cluster_totals = Counter[str]()
    for (cluster, _), count in counts.items():
        cluster_totals[cluster] += count
    columns = [
        Column("Server", "server"),
        Column("Cluster", "cluster"),
        Column(what, what.lower(), "count"),
        Column("Distribution", "share"),
    ]
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], item[1], item[0][1]))
    rows = [
        (server, cluster, count, leader_share(count, cluster_totals[cluster]))
        for (cluster, server), count in ordered
    ]
    return Table("RAFT Leader Report", columns, rows)


def balanced(
    moves: Sequence[Move], failed: Sequence[tuple[Move, str]], noun: str, *, dry_run: bool = False
) -> Result:
    """`cluster balance`; the document is `{"balanced", "moves": [...], "failed": [...]}`.

    failed: moves that did not happen, with the reason. noun: "stream" or "consumer".
    """
    columns = (
        Column(noun.title(), noun),
        Column("Cluster", "cluster"),
        Column("Old Leader", "from"),
        Column("Would Lead" if dry_run else "New Leader", "to"),
    )
    count = len(moves)
    table = Table("", columns, moves)
    parts: list[Part] = [table] if moves else []
    parts.append(Text(f"{'Would balance' if dry_run else 'Balanced'} {plural(count, noun)}"))
    parts += [Text(f"{move.name} did not move to {move.preferred}: {why}", "bad") for move, why in failed]
    data = {
        "dry_run": dry_run,
        "balanced": 0 if dry_run else count,
        "moves": table.records(),
        "failed": [{noun: move.name, "to": move.preferred, "error": why} for move, why in failed],
    }
    return Result(parts, data=data, status=ExitStatus.FAILURE if failed else ExitStatus.OK)
