"""The effect of keys: (model, key) -> model. No I/O; no key changes anything on a server.

Keys have the names of prompt_toolkit: a character, or `up`, `pagedown`, `enter`, `escape`, `c-c`.
"""

from collections.abc import Callable, Mapping, Sequence

from jsctl.screen.choosing import open_choice, press_in_choice
from jsctl.screen.model import (
    Model,
    arrange,
    change_speed,
    close_listing,
    close_page,
    move_to,
    open_page,
    seek,
    show_detail,
    sort_key,
    sort_keys,
    step_interval,
    step_replay,
    with_filter,
    with_part,
)
from jsctl.views.board import Link

Act = Callable[[Model], Model]

_INPUTS = ("filter", "go", "time", "ask")

HELP = (
    ("up down j k", "move a row; page keys, home, end (or g, G) move further"),
    ("1 … 9 0, tab", "show another part; parts, titles and rows can be clicked"),
    ("enter, esc", "open the selected row; go back"),
    ("c", "show the consumers of the selected stream; go back"),
    ("/", "filter by a regular expression; !TEXT inverts it, esc clears it"),
    ("s S", "sort by the next column; reverse the order"),
    ("f", "show only what is wrong"),
    ("w", "show all columns, and only those that fit"),
    ("C", "choose the columns of the part and their order; they are kept"),
    ("left right", "scroll sideways through all or the chosen columns; names stay"),
    ("p space", "pause and continue"),
    ("r", "refresh"),
    ("+ -", "ask less often, more often"),
    ("J", "show the selected row as JSON"),
    ("y", "show and copy the command line that shows or fixes this row"),
    (":", "go to a part or a name"),
    ("q, ctrl-C", "quit"),
)
"""Keys and what they do, as `?` shows them."""

PICTURE_HELP = (
    ("up down j k", "scroll what is higher than the screen; page keys, home, end move further"),
    ("p space", "pause and continue"),
    ("r", "refresh"),
    ("+ -", "ask less often, more often"),
    ("q, ctrl-C", "quit"),
)
"""The keys of a picture, which has no rows, and what they do."""

REPLAY_HELP = (
    ("[ ]", "step a round back, on"),
    ("{ }", "step ten rounds back, on"),
    ("g", "go to a time: 06:57, 2026-11-21T06:57:05Z, or -10m"),
    ("< >", "play slower, faster"),
)
"""The keys of a replay, and what they do."""


def press(model: Model, key: str) -> Model:
    """Return the state after a key. A key without a meaning changes nothing."""
    if key == "c-c":
        return model._replace(ended="interrupted")
    if model.mode in _INPUTS:
        return _press_in_input(model, key)
    model = model._replace(notice="", copied="")
    if model.mode in ("help", "json"):
        if key in ("q", "Q"):
            return model._replace(ended="quit")
        if key in ("escape", "?", "J", "enter"):
            return model._replace(mode=model.back, page_top=0)
        return _scroll(model, key)
    if model.mode == "columns":
        return press_in_choice(model, key)
    if model.board.picture is not None:
        return _PICTURE[key](model) if key in _PICTURE else _scroll(model, key)
    if model.times and key in _REPLAY and model.mode in ("table", "page"):
        return _REPLAY[key](model)
    if not model.times and key in (links := model.links):
        return _follow(model, links[key])
    if key in _ANYWHERE:
        return _ANYWHERE[key](model)
    if model.mode == "page":
        return _press_in_page(model, key)
    return _press_in_table(model, key)


def apply_paste(model: Model, text: str) -> Model:
    """Return the state after a text was pasted. It is typed where something is typed, and is never keys."""
    return (
        _type(model, model.typed + "".join(filter(str.isprintable, text))) if model.mode in _INPUTS else model
    )


def _press_in_table(model: Model, key: str) -> Model:
    if key in _MOVES:
        return move_to(model, _MOVES[key](model))
    if key.isdigit():
        index = (int(key) - 1) % 10
        parts = model.board.parts
        return with_part(model, parts[index].key) if index < len(parts) else model
    act = _TABLE.get(key)
    return act(model) if act else model


def _press_in_page(model: Model, key: str) -> Model:
    if key in ("escape", "enter", "h", "left", "backspace"):
        return close_page(model)
    if key.isdigit():
        return _press_in_table(model, key)
    return _scroll(model, key)


def _scroll(model: Model, key: str) -> Model:
    """Scroll a page. The drawing knows its length and stops at its end."""
    page = max(1, model.height - 6)
    step = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": page, "pageup": -page, " ": page}.get(key, 0)
    if key in ("home", "g"):
        return model._replace(page_top=0)
    if key in ("end", "G"):
        return model._replace(page_top=1_000_000)
    return model._replace(page_top=max(0, model.page_top + step))


def _press_in_input(model: Model, key: str) -> Model:
    if model.mode == "ask" and key in ("escape", "enter"):
        return _answer(model, model.typed.strip() if key == "enter" else "")
    if key == "escape":
        closed = model._replace(mode="table", typed="", notice="")
        return with_filter(closed, "") if model.mode == "filter" else closed
    if key == "enter":
        closed = model._replace(mode="table", typed="")
        if model.mode == "time":
            return seek(closed, model.typed) if model.typed.strip() else closed
        return closed if model.mode == "filter" else _go(closed, model.typed)
    if key in ("backspace", "c-h"):
        typed = model.typed[:-1]
    elif key == "c-u":
        typed = ""
    elif len(key) == 1 and key.isprintable():
        typed = model.typed + key
    else:
        return model
    return _type(model, typed)


def _type(model: Model, typed: str) -> Model:
    model = model._replace(typed=typed, notice="")
    return with_filter(model, typed) if model.mode == "filter" else model


def _follow(model: Model, link: Link) -> Model:
    """Open what a key leads to, or ask for it first."""
    if link.line and not model.start.allows_changes:
        return _show_line(model, link.line)
    if link.ask:
        return model._replace(mode="ask", back=model.mode, typed="", asked=link)
    return open_page(model, link.page, replaces=link.replaces)


def _answer(model: Model, text: str) -> Model:
    """Open the page for what was typed; nothing for no text."""
    link, closed = model.asked, model._replace(mode=model.back, typed="", notice="", asked=None)
    if link is None or link.answer is None or not text:
        return closed
    try:
        page = link.answer(text)
    except ValueError as error:
        return model._replace(notice=str(error))
    return open_page(closed, page, replaces=link.replaces)


def _leave(model: Model) -> Model:
    """Clear the filter, or leave the page with rows or the rows of what was selected."""
    if model.filter:
        return with_filter(model, "")
    if model.pages:
        return close_page(model)
    return with_filter(model, "") if model.within is None else show_detail(model)


def _go(model: Model, text: str) -> Model:
    """Go to the part or row of this name, whatever part the row is in; else to the part whose name begins
    with the text, or to the first row on the screen that contains it. `q` quits."""
    name = text.strip()
    words = name.lower()
    if not words:
        return model
    if words in ("q", "quit", "exit"):
        return model._replace(ended="quit")
    parts = model.board.parts
    exact = [part.key for part in parts if words in (part.title.lower(), part.key)]
    begun = [part.key for part in parts if part.title.lower().startswith(words) or part.key.startswith(words)]
    states = [model, *(with_part(model, part.key) for part in parts if part.key != model.part)]
    if exact:
        return with_part(model, exact[0])
    found = _find_row(states, lambda texts: name in texts)
    found = found or _find_row(states, lambda texts: words in map(str.lower, texts))
    if found is None and begun:
        return with_part(model, begun[0])
    found = found or _find_row([model], lambda texts: words in " ".join(texts).lower())
    return found or model._replace(notice=f"no part or row is called {name!r}")


def _find_row(states: Sequence[Model], matches: Callable[[Sequence[str]], bool]) -> Model | None:
    """Return the first of some states that shows a row whose texts match, with that row selected."""
    for state in states:
        for index, row in enumerate(state.rows):
            if state.grid is not None and matches(state.grid.texts(row)):
                return move_to(state, index)
    return None


def _switch_part(model: Model, step: int) -> Model:
    keys = [part.key for part in model.board.parts]
    if not keys:
        return model
    index = keys.index(model.part) if model.part in keys else 0
    return with_part(model, keys[(index + step) % len(keys)])


def _sort_next(model: Model) -> Model:
    keys = sort_keys(model)
    if not keys:
        return model
    current = sort_key(model) or "trouble"
    index = keys.index(current) if current in keys else 0
    next_key = keys[(index + 1) % len(keys)]
    return arrange(model.with_view(sort=next_key, reverse=False, selected=None, at=0, top=0))


def _reverse(model: Model) -> Model:
    return arrange(model.with_view(reverse=not model.view.reverse, selected=None, at=0, top=0))


def _open(model: Model) -> Model:
    if model.grid is None or model.selected is None:
        return model
    page = model.grid.page(model.selected)
    if page is None:
        return model
    return open_page(model, page)


def _scroll_sideways(model: Model, step: int) -> Model:
    """Scroll by a column. The drawing knows how wide the columns are, and stops at the last one."""
    if not model.is_scrolled:
        return model._replace(wide=True).with_view(left=0) if step > 0 else model
    return model.with_view(left=max(0, model.view.left + step))


def _show_command(model: Model) -> Model:
    command = model.grid.line(model.selected) if model.grid is not None and model.selected is not None else ""
    if model.mode == "page" and model.board.line:
        command = model.board.line
    return _show_line(model, command) if command else model


def _show_line(model: Model, command: str) -> Model:
    commands = model.lines if command in model.lines else (*model.lines, command)
    return model._replace(notice=command, copied=command, lines=commands)


def _show_json(model: Model) -> Model:
    if model.grid is None or model.selected is None:
        return model
    return model._replace(mode="json", back=model.mode, page_top=0)


def _count_visible_rows(model: Model) -> int:
    return max(1, model.height - 6)


_MOVES: Mapping[str, Callable[[Model], int]] = {
    "up": lambda m: m.view.at - 1,
    "k": lambda m: m.view.at - 1,
    "down": lambda m: m.view.at + 1,
    "j": lambda m: m.view.at + 1,
    "pageup": lambda m: m.view.at - _count_visible_rows(m),
    "c-b": lambda m: m.view.at - _count_visible_rows(m),
    "pagedown": lambda m: m.view.at + _count_visible_rows(m),
    "c-f": lambda m: m.view.at + _count_visible_rows(m),
    "home": lambda m: 0,
    "end": lambda m: len(m.rows) - 1,
    "g": lambda m: 0,
    "G": lambda m: len(m.rows) - 1,
}

_REPLAY: Mapping[str, Act] = {
    "[": lambda m: step_replay(m, -1),
    "]": lambda m: step_replay(m, 1),
    "{": lambda m: step_replay(m, -10),
    "}": lambda m: step_replay(m, 10),
    "<": lambda m: change_speed(m, 0.5),
    ">": lambda m: change_speed(m, 2),
    "g": lambda m: m._replace(mode="time", typed=""),
}

_ANYWHERE: Mapping[str, Act] = {
    "q": lambda m: m._replace(ended="quit"),
    "Q": lambda m: m._replace(ended="quit"),
    "?": lambda m: m._replace(mode="help", back=m.mode, page_top=0),
    "p": lambda m: m._replace(paused=not m.paused),
    "r": lambda m: m._replace(refresh=m.refresh + 1),
    "+": lambda m: step_interval(m, 1),
    "=": lambda m: step_interval(m, 1),
    "-": lambda m: step_interval(m, -1),
    "tab": lambda m: _switch_part(m, 1),
    "s-tab": lambda m: _switch_part(m, -1),
    "y": _show_command,
    "J": _show_json,
    "c": show_detail,
    ":": lambda m: close_listing(m)._replace(mode="go", typed="", pages=(), board=m.plain),
}

_PICTURE: Mapping[str, Act] = {
    **{key: _ANYWHERE[key] for key in ("q", "Q", "?", "p", "r", "+", "=", "-")},
    " ": _ANYWHERE["p"],
}
"""Keys of a picture, which has no rows."""

_TABLE: Mapping[str, Act] = {
    " ": _ANYWHERE["p"],
    "enter": _open,
    "right": lambda m: _scroll_sideways(m, 1),
    "left": lambda m: _scroll_sideways(m, -1),
    "/": lambda m: m._replace(mode="filter", typed=m.filter),
    "escape": _leave,
    "s": _sort_next,
    "S": _reverse,
    "f": lambda m: arrange(m._replace(faults=not m.faults)),
    "C": open_choice,
    "w": lambda m: m._replace(wide=not m.wide).with_view(left=0),
}
