"""Leaders of streams and consumers: which servers have how many."""

from collections import Counter
from collections.abc import Iterable

from jsctl.views.result import Cell, Column, Part, Table, Text


def leader_report(leaders: Iterable[tuple[str, str]], noun: str) -> Part:
    """Return a table of how many streams or consumers each server leads.

    leaders: cluster and server of each stream or consumer. noun: "Streams" or "Consumers".
    """
    counts = Counter(leaders)
    if not counts:
        return Text(f"No leaders: these {noun.lower()} are not in a cluster")
    cluster_totals = Counter[str]()
    for (cluster, _), count in counts.items():
        cluster_totals[cluster] += count
    columns = [
        Column("Server", "server"),
        Column("Cluster", "cluster"),
        Column(noun, noun.lower(), "count"),
        Column("Distribution", "share"),
    ]
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], item[1], item[0][1]))
    rows = [
        (server, cluster, count, leader_share(count, cluster_totals[cluster]))
        for (cluster, server), count in ordered
    ]
    return Table("RAFT Leader Report", columns, rows)


def leader_share(count: int, total: int) -> Cell:
    """Return the cell of a server's share of all leaders, drawn with one star per tenth."""
    return Cell(round(count / total, 4), "*" * max(1, round(10 * count / total)))
