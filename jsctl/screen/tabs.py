"""The line of a screen's parts. No I/O."""

from collections.abc import Callable, Collection, Sequence

from jsctl.base.units import format_count
from jsctl.render.fit import cut_end
from jsctl.render.text import clean, measure
from jsctl.screen.model import Model
from jsctl.views.board import Part


def draw_tabs(model: Model, width: int) -> list[tuple[str, str]]:
    """Return the line of parts, a fragment for each. None is cut: if they do not fit, their counts are
    rounded, then those that are asked for are left out, the last first, then those farthest from the one
    that is shown, and the first part at the end. What stands for them, `7-11…`, is the fragment of the first
    of them."""
    order = _list_dispensable(model)
    for count in range(len(order) + 1):
        for form in (format_count, _round_count):
            line = _draw(model, form, order[:count])
            if sum(measure(words) for _, words in line) <= width:
                return line
    return [(style, cut_end(words, width) if style == "tab on" else "") for style, words in line]


def _list_dispensable(model: Model) -> Sequence[Part]:
    """Return the parts that may be left out, in that order."""
    parts = model.board.parts
    shown = next((index for index, part in enumerate(parts) if part.key == model.part), 0)
    others = [part for part in parts if part.key != model.part and not part.is_vital]
    asked = [part for part in reversed(others) if part.key in model.start.asked]
    far = sorted(others, key=lambda part: (part == parts[0], -abs(parts.index(part) - shown)))
    return [*asked, *(part for part in far if part not in asked)]


def _draw(model: Model, form: Callable[[int], str], hidden: Collection[Part]) -> list[tuple[str, str]]:
    parts = model.board.parts
    line = []
    for index, part in enumerate(parts):
        is_shown = part.key == model.part
        known = model.counts.get(part.key) if is_shown or part.total is None else part.total
        count = "" if known is None else (format_count if is_shown or part.is_vital else form)(known)
        number = f"{index + 1} " if len(parts) > 1 else ""
        words = f" {number}{clean(part.title)}{f' {count}' if count else ''} "
        if part in hidden:
            rest = next((end for end in range(index, len(parts)) if parts[end] not in hidden), len(parts))
            is_first = index == 0 or parts[index - 1] not in hidden
            words = f" {index + 1}{f'-{rest}' if rest > index + 1 else ''}… " if is_first else ""
        line.append(("tab on" if is_shown else "tab", words))
    return line


def _round_count(rows: int) -> str:
    """Format a number of rows in at most four characters: `9999`, `10k`."""
    return str(rows) if rows < 10_000 else f"{rows // 1000}k"
