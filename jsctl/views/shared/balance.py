"""Leaders of streams and consumers that moved to other servers."""

from collections.abc import Sequence

from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.jetstream.cluster.balance import Move
from jsctl.views.result import Column, Part, Result, Table, Text


def balanced(
    moves: Sequence[Move], failed: Sequence[tuple[Move, str]], noun: str, *, dry_run: bool = False
) -> Result:
    """Show the result of `cluster balance`; the document is `{"balanced", "moves": [...], "failed": [...]}`.

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
    parts.append(Text(f"{'Would balance' if dry_run else 'Balanced'} {pluralize(count, noun)}"))
    parts += [Text(f"{move.name} did not move to {move.preferred}: {why}", "bad") for move, why in failed]
    data = {
        "dry_run": dry_run,
        "balanced": 0 if dry_run else count,
        "moves": table.records(),
        "failed": [{noun: move.name, "to": move.preferred, "error": why} for move, why in failed],
    }
    return Result(parts, data=data, status=ExitStatus.FAILURE if failed else ExitStatus.OK)
