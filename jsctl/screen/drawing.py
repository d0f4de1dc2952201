"""The state of a screen as lines of styled text: (model, size) -> lines. No I/O."""

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from jsctl.base.units import format_count, format_exact_duration, pluralize
from jsctl.render.emit import format_lines
from jsctl.render.fit import cut, cut_end, fold, split
from jsctl.render.plot import stack_charts
from jsctl.render.text import clean, measure
from jsctl.screen.cells import DrawnRow, draw_cells, draw_mark, format_padded
from jsctl.screen.choosing import CHOOSING_KEYS, list_choice_lines
from jsctl.screen.columns import (
    GAP,
    MARK_WIDTH,
    ShownColumn,
    choose_columns,
    find_last_left,
    list_hidden,
)
from jsctl.screen.keys import HELP, PICTURE_HELP, REPLAY_HELP
from jsctl.screen.model import Model, sort_key
from jsctl.screen.tabs import draw_tabs
from jsctl.views.board import Grid
from jsctl.views.result import Chart, ChartStack, Result, Text

Fragment = tuple[str, str]
"""A style (`good`, `warn`, `bad`, `dim`, `bold`, `heading`, `tab`, `changed`, ..., several separated by
spaces) and a text.
"""

Line = list[Fragment]


class _Table(NamedTuple):
    """What of a table is on the screen. top: the number of its first row there."""

    top: int
    rows: Sequence[Any]
    columns: Sequence[ShownColumn]


def draw(model: Model, width: int, height: int) -> list[Line]:
    """Return exactly `height` lines of at most `width` cells."""
    if height < 4 or width < 16:
        return [[("warn", cut_end("the terminal is too small", width))], *([] for _ in range(height - 1))][
            :height
        ]
    head = draw_head(model, width, height)
    space = height - len(head) - 1
    is_table = model.mode not in ("help", "columns", "json", "page")
    table = _lay_out_table(model, width, space) if is_table else None
    body = _draw_body(model, table, width, space)[:space]
    return [*head, *body, *([] for _ in range(space - len(body))), _draw_foot(model, table, width)]


def find_top_row(model: Model, height: int) -> int:
    """Return the first row to show on a screen of `height` rows, so that the selected one is visible."""
    selected, top = model.view.at, model.view.top
    top = min(top, max(0, len(model.rows) - height))
    return selected if selected < top else selected - height + 1 if selected >= top + height else max(0, top)


def _lay_out_table(model: Model, width: int, height: int) -> _Table | None:
    """Return what is on a screen of `height` lines, None if there are no rows."""
    if model.grid is None or model.board.picture is not None or not model.rows:
        return None
    space = max(1, height - 1)
    top = find_top_row(model, space)
    rows = model.rows[top : top + space]
    return _Table(top, rows, choose_columns(model, model.grid, rows, width))


def settle(model: Model) -> Model:
    """Return the state scrolled so that the selected row, or at most the end of its page, is shown."""
    space = model.height - len(draw_head(model, model.width, model.height)) - 1
    if model.mode == "table" and model.rows and model.grid is not None:
        top = find_top_row(model, max(1, space - 1))
        last = find_last_left(model, model.grid, model.rows[top : top + space], model.width)
        return model.with_view(top=top, left=min(model.view.left, last))
    if model.mode == "page" and isinstance(model.board.page, Result):
        lines = _list_page_lines(model, model.width)
    elif model.mode == "table" and isinstance(model.board.picture, Result):
        lines = _list_result_lines(model.board.picture, model.width)
    else:
        return model
    return model._replace(page_top=max(0, min(model.page_top, len(lines) - space)))


def draw_head(model: Model, width: int, height: int) -> list[Line]:
    """Return the lines above the table."""
    lines, parts = [_draw_title(model, width)], model.board.parts
    if height >= 8 and (len(parts) > 1 or (parts and parts[0].title)):
        lines.append(draw_tabs(model, width))
    limit = 1 if height < 16 else 4 if height < 40 else 10
    notices = model.board.notices
    folded: list[Line] = [
        [(notice.style, line)] for notice in notices for line in fold(clean(notice.text), width, "  ")
    ]
    if len(folded) <= limit:
        return lines + folded
    shown = notices if len(notices) <= limit else notices[: limit - 1]
    lines += [[(notice.style, cut_end(clean(notice.text), width))] for notice in shown]
    if len(shown) < len(notices):
        lines.append([("dim", cut_end(f"and {len(notices) - len(shown)} more such lines", width))])
    return lines


def _draw_title(model: Model, width: int) -> Line:
    state = "paused" if model.paused else f"every {format_exact_duration(model.interval)}"
    if model.times:
        state = f"round {model.position + 1} of {len(model.times)}, {model.speed:g}x"
        state += ", paused" if model.paused else ""
    left, right = f"{model.start.title}  ", f"  {state}"
    marks = [(style, f"{cut(clean(text), width // 3)}  ") for style, text in model.start.marks]
    filter_text = _describe_filter(model, width)
    middle = clean(model.board.heading) or ("waiting for the first answer" if model.board.is_empty else "")
    marked = sum(measure(text) for _, text in marks)
    space = width - measure(left) - marked - measure(filter_text) - measure(right)
    if space < 8:
        short = cut_end(f"{left}{middle}".rstrip(), max(0, width - marked - measure(filter_text)))
        return [*marks, ("bold", short), ("warn", cut_end(filter_text, width - marked - measure(short)))]
    middle = cut(middle, space)
    gap = " " * max(0, space - measure(middle))
    return [
        ("bold", left),
        *marks,
        ("dim", middle + gap),
        ("warn", filter_text),
        ("warn" if model.paused else "dim", right),
    ]


def _describe_filter(model: Model, width: int) -> str:
    """Return which rows are hidden: by what they belong to, by the filter, by the restriction to problems."""
    words = f"  {cut(clean(model.within.title), width // 3)}" if model.within is not None else ""
    words += f"  /{cut(clean(model.filter), width // 3)}" if model.filter and model.mode != "filter" else ""
    return words + ("  only what is wrong" if model.faults else "")


_KEYS = (
    ("/", "filter"),
    ("s", "sort"),
    ("enter", "open"),
    ("c", "consumers"),
    ("f", "problems"),
    ("p", "pause"),
    ("?", "keys"),
    ("q", "quit"),
    ("w", "wide"),
    ("J", "json"),
    ("y", "command"),
    ("r", "refresh"),
)
_PICTURE_KEYS = (("p", "pause"), ("+ -", "interval"), ("r", "refresh"), ("?", "keys"), ("q", "quit"))
_PAGE_KEYS = (("esc", "back"), ("↑↓", "scroll"), ("p", "pause"), ("?", "keys"), ("q", "quit"))
_REPLAY_KEYS = (("[ ]", "step"), ("{ }", "ten"), ("< >", "speed"), ("g", "time"))


def _draw_foot(model: Model, table: _Table | None, width: int) -> Line:
    if model.mode in ("filter", "go", "time", "ask"):
        mark = {"filter": "/", "go": ":"}.get(model.mode, "time: ")
        mark = f"{model.asked.ask}: " if model.mode == "ask" and model.asked is not None else mark
        line: Line = [("key", mark), ("bold", cut(model.typed, width - 1 - measure(mark))), ("cursor", " ")]
        if model.notice:
            line.append(("warn", cut_end("  " + model.notice, width - 1 - measure(mark + model.typed))))
        return line
    if model.notice:
        return [("notice", cut_end(clean(model.notice), width))]
    if model.mode == "columns":
        return _draw_keys(CHOOSING_KEYS, width, "")
    if model.mode in ("help", "json"):
        return _draw_keys([pair for pair in _PAGE_KEYS if pair[0] in ("esc", "↑↓", "q")], width, "")
    keys: Sequence[tuple[str, str]] = _PAGE_KEYS if model.mode != "table" else _KEYS
    if model.mode == "table" and model.board.picture is not None:
        keys = _PICTURE_KEYS
    first = model.rows[0] if model.grid is not None and model.rows else None
    if model.times:
        keys = (*_REPLAY_KEYS, *keys)
    elif model.mode == "table" and model.grid is not None:
        labels = {
            "enter": "open" if first is not None and model.grid.page(first) is not None else "",
            "c": "back"
            if model.within is not None
            else "consumers" * bool(first is not None and model.grid.detail(first)),
        }
        keys = [(key, named) for key, label in keys if (named := labels.get(key, label))]
        keys = [("esc", "back"), *keys] if model.pages else keys
    if not model.times:
        at = next((index for index, (key, _) in enumerate(keys) if key in ("p", "f")), 0)
        links = [(key, link.title) for key, link in model.links.items() if not link.line]
        keys = [*keys[:at], *links, *keys[at:]]
    hidden = _describe_hidden(
        model, table, width, sum(measure(key) + measure(words) + 3 for key, words in keys)
    )
    return _draw_keys(keys, width, hidden)


def _draw_keys(keys: Sequence[tuple[str, str]], width: int, hidden: str) -> Line:
    """Return the line of keys, as many as there is room for beside what is hidden."""
    line: Line = []
    used = measure(hidden)
    for key, words in keys:
        if used + measure(key) + measure(words) + 3 > width:
            break
        line += [("key", key), ("dim", f" {words}  ")]
        used += measure(key) + measure(words) + 3
    return [*line, ("", " " * (width - used)), ("key", hidden)] if hidden else line


def _describe_hidden(model: Model, table: _Table | None, width: int, used: int) -> str:
    """Return how many columns are not on the screen, with their titles when there is room beside the keys,
    which take `used` cells; empty for none."""
    titles = _list_hidden_titles(model, table) if model.mode == "table" else []
    if not titles or model.grid is None or table is None:
        return ""
    count = f"+{pluralize(len(titles), 'column')} {_find_direction(model, model.grid, table.rows)}"
    whole = f"{count} {', '.join(titles)}"
    return whole if used + measure(whole) <= width else count


def _find_direction(model: Model, grid: Grid, shown: Sequence[Any]) -> str:
    """Return an arrow to where columns are that are not on the screen."""
    if not model.is_scrolled or not model.view.left:
        return "→"
    return "↔" if model.view.left < find_last_left(model, grid, shown, model.width) else "←"


def _list_hidden_titles(model: Model, table: _Table | None) -> list[str]:
    return [] if model.grid is None or table is None else list_hidden(model, model.grid, table.columns)


def _draw_body(model: Model, table: _Table | None, width: int, height: int) -> list[Line]:
    if model.mode == "help":
        return _draw_scrolled(_list_help_lines(model), model, width, height)
    if model.mode == "columns":
        return _draw_plain(list_choice_lines(model, height), width)
    if model.mode == "json" and model.grid is not None and model.selected is not None:
        text = json.dumps(model.record, indent=2, ensure_ascii=False, default=str)
        return _draw_scrolled([Text(line) for line in text.split("\n")], model, width, height)
    if model.mode == "page" or (model.mode == "ask" and model.back == "page"):
        return _draw_scrolled(_list_page_lines(model, width), model, width, height)
    if isinstance(model.board.picture, ChartStack):
        return _draw_plain(stack_charts(model.board.picture.charts, width, height), width)
    if model.board.picture is not None:
        return _draw_scrolled(_list_result_lines(model.board.picture, width), model, width, height)
    return _draw_table(model, table, width)


def _list_page_lines(model: Model, width: int) -> list[Text]:
    if not isinstance(model.board.page, Result):
        return [Text("waiting for the answer", "dim")]
    return _list_result_lines(model.board.page, width)


def _list_result_lines(result: Result, width: int) -> list[Text]:
    lines: list[Text] = []
    for part in result.parts:
        lines += [Text("")] * bool(lines)
        style = part.style if isinstance(part, Text) else "good" if isinstance(part, Chart) else ""
        whole = "\n".join(format_lines(Result([part]), "table", width=width)).split("\n")
        texts = [piece for line in whole for piece in split(line, max(1, width))]
        lines += [
            Text(text, style if not isinstance(part, Chart) or index else "")
            for index, text in enumerate(texts)
        ]
    return lines


def _list_help_lines(model: Model) -> list[Text]:
    pairs = PICTURE_HELP if model.board.picture is not None else HELP
    shows = "" if model.start.allows_changes else "show the line to "
    links = [(key, shows + link.help if link.line else link.help) for key, link in model.links.items()]
    pairs = (*pairs, *REPLAY_HELP) if model.times else (*links, *pairs)
    words = "Keys. None of them changes anything on a server."
    if model.start.allows_changes:
        words = "Keys. Those of verbs show what would change, and do it once its name was typed."
    lines = [*(Text(line, "bold") for line in wrap(words, model.width - 1)), Text("")]
    for key, words in pairs:
        first, *more = wrap(words, max(16, model.width - 17)) or [""]
        lines += [Text(f"  {key:<14}{first}"), *(Text(f"{'':16}{line}") for line in more)]
    if titles := _list_hidden_titles(model, _lay_out_table(model, model.width, model.height - 3)):
        text = f"Columns that are not on the screen: {', '.join(titles)}"
        lines += [Text(""), *(Text(line) for line in wrap(text, model.width - 1))]
    return lines


def _draw_scrolled(lines: Sequence[Text], model: Model, width: int, height: int) -> list[Line]:
    top = max(0, min(model.page_top, len(lines) - height))
    return _draw_plain(lines[top : top + height], width)


def _draw_plain(lines: Sequence[Text], width: int) -> list[Line]:
    return [[(line.style, cut_end(clean(line.text), width))] for line in lines]


def _draw_table(model: Model, table: _Table | None, width: int) -> list[Line]:
    grid = model.grid
    if grid is None:
        return []
    if table is None:
        return [[], [("dim", cut_end("  " + _explain_empty(model, grid), width))]]
    before, rows = model.grid_before, []
    for index, row in enumerate(table.rows, table.top):
        key = grid.show(row)
        previous = before.find(key) if before is not None and before.rows else row  # without one, none is new
        base = "row-on" if index == model.view.at else ""
        rows.append(DrawnRow(row, previous, grid.level(row), grid.dim(row), base))
    last = len(table.columns) - 1
    columns = [
        draw_cells(column, rows, " " * GAP if index < last else "", index == 0)
        for index, column in enumerate(table.columns)
    ]
    lines = [_draw_titles(model, table.columns, width)]
    used = MARK_WIDTH + sum(column.width for column in table.columns) + GAP * max(0, last)
    for row, *cells in zip(rows, *columns, strict=True):
        lines.append([draw_mark(row), *cells])
        if row.base:  # only the selected row is colored to the end of the line
            lines[-1].append((row.base, " " * max(0, width - used)))
    return lines


def _explain_empty(model: Model, grid: Grid) -> str:
    if grid.rows and model.filter:
        row_count = f"{format_count(len(grid.rows))} {grid.noun}"
        verb_words = "that is wrong matches" if model.faults else "matches"
        return f"none of {row_count} {verb_words} /{clean(model.filter)}; esc clears it"
    if grid.rows and model.faults:
        return f"nothing is wrong with {format_count(len(grid.rows))} {grid.noun}; f shows all"
    if grid.rows and model.within is not None:
        return f"none of {format_count(len(grid.rows))} {grid.noun} belongs to {clean(model.within.title)}"
    return grid.empty or f"there are no {grid.noun}"


def _draw_titles(model: Model, columns: Sequence[ShownColumn], width: int) -> Line:
    line: Line = [("heading", " " * MARK_WIDTH)]
    order = sort_key(model)
    used = MARK_WIDTH
    for index, (column, space, right, *_) in enumerate(columns):
        title = column.title
        if column.key == order:
            is_descending = model.view.reverse == (column.kind in ("text", "prose", "url", "time"))
            title += "↓" if is_descending else "↑"
        title = format_padded(cut_end(title, space), space, right)
        gap = " " * GAP if index + 1 < len(columns) else ""
        line.append(("heading on" if column.key == order else "heading", title))
        line.append(("heading", gap))
        used += space + len(gap)
    line.append(("heading", " " * max(0, width - used)))
    return line
