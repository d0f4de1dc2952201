"""What servers copy for a plan of streams."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, pluralize
from jsctl.jetstream.declared.moves import Move
from jsctl.views.result import Lines, Result


def list_lines(moves: Sequence[Move]) -> list[str]:
    """Return a line for each stream that servers copy or are changing, and one for all that they copy."""
    lines = [
        f"{move.step.stream}: copies {pluralize(move.copies, 'replica')}, {format_bytes(move.size)}"
        f"{' left at most, as it is being moved' * move.is_begun}{f' ({move.remark})' * bool(move.remark)}"
        for move in moves
        if move.copies or move.remark
    ]
    count, total = sum(move.copies > 0 for move in moves), format_bytes(sum(move.size for move in moves))
    return [*lines, f"{pluralize(count, 'stream')} to copy, {total} in all"] if lines else []


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
