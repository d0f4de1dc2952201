"""What servers copy for a plan of streams."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, pluralize
from jsctl.jetstream.declared.moves import Move
from jsctl.views.result import Lines, Result


def list_lines(moves: Sequence[Move]) -> list[str]:
    """Return a line for each stream that servers copy, and one for all."""
    if not moves:
        return []
    lines = [
        f"{move.step.stream}: copies {pluralize(move.copies, 'replica')}, {format_bytes(move.size)}"
        f"{' left at most, as it is being moved' * move.is_begun}{f' ({move.remark})' * bool(move.remark)}"
        for move in moves
    ]
    total = format_bytes(sum(move.size for move in moves))
    return [*lines, f"{pluralize(len(moves), 'stream')} to copy, {total} in all"]


def add_moves(result: Result, moves: Sequence[Move], most: int) -> Result:
    """Return a plan, or its outcome, with what servers copy, at most so many streams at a time."""
    data = {
        **(result.data if isinstance(result.data, dict) else {}),
        "moves": [move.to_json() for move in moves],
        "bytes": sum(move.size for move in moves),
        "max_moves": most,
    }
    lines = list_lines(moves)
    if not lines or "applied" in data:
        return result._replace(data=data)
    last = f"{lines[-1]}, at most {pluralize(most, 'stream')} at a time"
    return result._replace(parts=[*result.parts, Lines([*lines[:-1], last])], data=data)
