"""Leaders of streams and consumers: which servers have how many."""

from collections import Counter
from collections.abc import Iterable, Mapping

from jsctl.views.result import Cell, Column, Part, Table, Text


def leader_report(leaders: Iterable[tuple[str, str]], noun: str) -> Part:
    """Return a table of how many streams or consumers each server leads.

    leaders: cluster and server of each stream or consumer. noun: "Streams" or "Consumers".
    """
    counts = Counter(leaders)
    if not counts:
        return Text(f"No leaders: these {noun.lower()} are not in a cluster")
    return leader_table(counts, Column(noun, noun.lower(), "count"))


def leader_table(counts: Mapping[tuple[str, str], int], column: Column) -> Table:
    """Return a table of what servers lead, with the share of each in its cluster, a star for each tenth.

    counts: by cluster and server. column: of the counts.
    """
    totals = Counter[str]()
    for (cluster, _), count in counts.items():
        totals[cluster] += count
    columns = [
        Column("Server", "server"),
        Column("Cluster", "cluster"),
        column,
        Column("Distribution", "share"),
    ]
    ordered = sorted((cluster, count, server) for (cluster, server), count in counts.items())
    rows = []
    for cluster, count, server in ordered:
        share = Cell(round(count / totals[cluster], 4), "*" * max(1, round(10 * count / totals[cluster])))
        rows.append((server, cluster, count, share))
    return Table("RAFT Leader Report", columns, rows)
