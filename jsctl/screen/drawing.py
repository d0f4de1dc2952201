"""The state of a screen as lines of styled text: (model, size) -> lines. No I/O."""

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from jsctl.base.units import format_count, format_exact_duration, pluralize
from jsctl.monitor.trouble import BAD, WARN
from jsctl.render.emit import format_lines
from jsctl.render.fit import NUMBERS, cut, cut_end, fold, split
from jsctl.render.plot import stack_charts
from jsctl.render.text import clean, measure
from jsctl.screen.choosing import CHOOSING_KEYS, list_choice_lines
from jsctl.screen.columns import (
    GAP,
    MARK_WIDTH,
    ShownColumn,
    choose_columns,
    find_last_left,
    format_value,
    list_hidden,
)
from jsctl.screen.keys import HELP, PICTURE_HELP, REPLAY_HELP
from jsctl.screen.model import Model, sort_key
from jsctl.screen.tabs import draw_tabs
from jsctl.views.board import Grid
from jsctl.views.result import Cell, Chart, ChartStack, Column, Result, Text

Fragment = tuple[str, str]
"""A style (`good`, `warn`, `bad`, `dim`, `bold`, `heading`, `tab`, `changed`, ..., several separated by
spaces) and a text.
"""

Line = list[Fragment]


_LEVELS = {WARN: "warn", BAD: "bad"}


def draw(model: Model, width: int, height: int) -> list[Line]:
    """Return exactly `height` lines of at most `width` cells."""
    if height < 4 or width < 16:
        return [[("warn", cut_end("the terminal is too small", width))], *_make_blank(height - 1)][:height]
    head = draw_head(model, width, height)
    foot = [_draw_foot(model, width)]
    space = height - len(head) - len(foot)
    body = _draw_body(model, width, space)[:space]
    return [*head, *body, *_make_blank(space - len(body)), *foot]


def find_top_row(model: Model, height: int) -> int:
    """Return the first row to show on a screen of `height` rows, so that the selected one is visible."""
    selected, top = model.view.at, model.view.top
    top = min(top, max(0, len(model.rows) - height))
    return selected if selected < top else selected - height + 1 if selected >= top + height else max(0, top)


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


def _draw_foot(model: Model, width: int) -> Line:
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
    hidden = _describe_hidden(model, width, sum(measure(key) + measure(words) + 3 for key, words in keys))
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


def _describe_hidden(model: Model, width: int, used: int) -> str:
    """Return how many columns are not on the screen, with their titles when there is room beside the keys,
    which take `used` cells; empty for none."""
    titles = _list_hidden_titles(model, width) if model.mode == "table" else []
    if not titles:
        return ""
    count = f"+{pluralize(len(titles), 'column')} {_find_direction(model)}"
    whole = f"{count} {', '.join(titles)}"
    return whole if used + measure(whole) <= width else count


def _find_direction(model: Model) -> str:
    """Return an arrow to where columns are that are not on the screen."""
    if not model.is_scrolled or not model.view.left or model.grid is None:
        return "→"
    last = find_last_left(model, model.grid, _list_drawn_rows(model), model.width)
    return "↔" if model.view.left < last else "←"


def _list_drawn_rows(model: Model) -> Sequence[Any]:
    return model.rows[model.view.top : model.view.top + max(1, model.height - 3)]


def _list_hidden_titles(model: Model, width: int) -> list[str]:
    if model.grid is None or model.board.picture is not None or not model.rows:
        return []
    return list_hidden(model, model.grid, _list_drawn_rows(model), width)


def _draw_body(model: Model, width: int, height: int) -> list[Line]:
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
    return _draw_table(model, width, height)


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
    if titles := _list_hidden_titles(model, model.width):
        text = f"Columns that are not on the screen: {', '.join(titles)}"
        lines += [Text(""), *(Text(line) for line in wrap(text, model.width - 1))]
    return lines


def _draw_scrolled(lines: Sequence[Text], model: Model, width: int, height: int) -> list[Line]:
    top = max(0, min(model.page_top, len(lines) - height))
    return _draw_plain(lines[top : top + height], width)


def _draw_plain(lines: Sequence[Text], width: int) -> list[Line]:
    return [[(line.style, cut_end(clean(line.text), width))] for line in lines]


def _draw_table(model: Model, width: int, height: int) -> list[Line]:
    grid = model.grid
    if grid is None:
        return []
    if not model.rows:
        return [[], [("dim", cut_end("  " + _explain_empty(model, grid), width))]]
    space = max(1, height - 1)
    top = find_top_row(model, space)
    shown = model.rows[top : top + space]
    columns = choose_columns(model, grid, shown, width)
    lines = [_draw_titles(model, columns, width)]
    before = model.grid_before
    for index, row in enumerate(shown, top):
        key = grid.show(row)
        previous = before.find(key) if before is not None and before.rows else row  # without one, none is new
        lines.append(_draw_row(grid, row, columns, previous, index == model.view.at, width))
    return lines


def _explain_empty(model: Model, grid: Grid) -> str:
    if grid.rows and model.filter:
        row_count = f"{format_count(len(grid.rows))} {grid.noun}"
        verb_words = "that is wrong matches" if model.faults else "matches"
        return f"none of {row_count} {verb_words} /{clean(model.filter)}; esc clears it"
    if grid.rows and model.faults:
        return f"nothing is wrong with {format_count(len(grid.rows))} {grid.noun}; f shows all"
    return grid.empty or f"there are no {grid.noun}"


def _draw_titles(model: Model, columns: Sequence[ShownColumn], width: int) -> Line:
    line: Line = [("heading", " " * MARK_WIDTH)]
    order = sort_key(model)
    used = MARK_WIDTH
    for index, (column, space, right) in enumerate(columns):
        title = column.title
        if column.key == order:
            is_descending = model.view.reverse == (column.kind in ("text", "prose", "url", "time"))
            title += "↓" if is_descending else "↑"
        title = _pad(cut_end(title, space), space, right)
        gap = " " * GAP if index + 1 < len(columns) else ""
        line.append(("heading on" if column.key == order else "heading", title))
        line.append(("heading", gap))
        used += space + len(gap)
    line.append(("heading", " " * max(0, width - used)))
    return line


def _draw_row(
    grid: Grid, row: Any, columns: Sequence[ShownColumn], previous: Any, is_selected: bool, width: int
) -> Line:
    base = "row-on" if is_selected else ""
    level = grid.level(row)
    dim = grid.dim(row)
    if previous is None:
        mark: Fragment = ("good", "+ ")
    elif level:
        mark = (_LEVELS[level], "● " if level == BAD else "◌ ")
    else:
        mark = ("", "  ")
    line: Line = [(_join(base, "dim" if dim else mark[0]), mark[1])]
    used = MARK_WIDTH
    for index, (column, space, right) in enumerate(columns):
        value = column.get(row)
        shorten = cut_end if column.kind in ("prose", "trend") else cut
        text = shorten(format_value(value, column), space)
        style = "dim" if dim else _find_style(column, value, level, index)
        if (
            not dim
            and not column.quiet
            and previous is not None
            and column.kind in NUMBERS
            and column.get_raw(previous) != column.get_raw(row)
        ):
            style = _join(style, "changed")
        gap = " " * GAP if index + 1 < len(columns) else ""
        line.append((_join(base, style), _pad(text, space, right) + gap))
        used += space + len(gap)
    if base:  # only the selected row is colored to the end of the line
        line.append((base, " " * max(0, width - used)))
    return line


def _find_style(column: Column, value: Any, level: int, index: int) -> str:
    if isinstance(value, Cell) and value.style:
        return value.style
    if column.kind == "prose":
        return _LEVELS.get(level, "")
    if column.kind == "trend":
        return "trend"
    if index == 0 and level == BAD:
        return "bad"
    if value in (0, None, "") and column.kind in NUMBERS:
        return "dim"
    return ""


def _pad(text: str, space: int, right: bool) -> str:
    gap = " " * max(0, space - measure(text))
    return gap + text if right else text + gap


def _join(*styles: str) -> str:
    return " ".join(filter(None, styles))


def _make_blank(number: int) -> list[Line]:
    return [[] for _ in range(number)]
