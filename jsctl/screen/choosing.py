"""The columns of a part that the user has chosen, and their order: the list of `C`, and the file that keeps
them between runs."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jsctl.base.files import read_bytes, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.errors import JsctlError
from jsctl.render.text import clean
from jsctl.screen.columns import list_candidates
from jsctl.screen.model import Model
from jsctl.views.result import Column, Text

ChosenColumns = Mapping[str, Sequence[str]]
"""The keys of the chosen columns by part, in their order."""

CHOOSING_KEYS = (
    ("esc", "done"),
    ("space", "show or hide"),
    ("← →", "move it"),
    ("↑↓", "select"),
    ("backspace", "default"),
)
"""The keys of the list, for the line of keys."""


def open_choice(model: Model) -> Model:
    """Return the state with the list of the part's columns; pages have no choice."""
    if model.grid is None or model.listing is not None or model.mode != "table" or not model.grid.columns:
        return model
    return model._replace(mode="columns", picked=0)


def press_in_choice(model: Model, key: str) -> Model:
    """Return the state after a key in the list of columns."""
    shown, others = _list_columns(model)
    columns, at = [*shown, *others], model.picked
    if key in ("escape", "enter", "C", "q"):
        return model._replace(mode="table")
    if key in ("up", "k", "down", "j", "home", "end"):
        step = {"home": -at, "end": len(columns), "up": -1, "k": -1}.get(key, 1)
        return model._replace(picked=max(0, min(at + step, len(columns) - 1)))
    keys = [column.key for column in shown]
    if key == "backspace":
        return model._replace(columns={**model.columns, model.part: ()}).with_view(left=0)
    if key == " ":
        picked = columns[at].key
        keys = [one for one in keys if one != picked] if picked in keys else [*keys, picked]
        after = len(keys) - 1 if at >= len(shown) else at
    elif key in ("left", "right") and at < len(shown):
        after = max(0, min(at + (1 if key == "right" else -1), len(keys) - 1))
        keys.insert(after, keys.pop(at))
    else:
        return model
    model = model._replace(columns={**model.columns, model.part: tuple(keys)}).with_view(left=0)
    return model._replace(picked=after)


def list_choice_lines(model: Model, height: int) -> list[Text]:
    """Return the list of columns, scrolled so that the selected one is on it."""
    shown, others = _list_columns(model)
    lines = []
    for at, column in enumerate([*shown, *others]):
        is_picked, box = at == model.picked, "[x]" if at < len(shown) else "[ ]"
        words = f"{'>' if is_picked else ' '} {box} {clean(column.title)}"
        lines.append(Text(words, "bold" if is_picked else ""))
    top = max(0, min(model.picked - height // 2, len(lines) - height))
    return lines[top : top + height]


def _list_columns(model: Model) -> tuple[list[Column], list[Column]]:
    """Return the columns that are shown, in their order, and the others."""
    grid = model.grid
    if grid is None:
        return [], []
    shown = list_candidates(model._replace(wide=False), grid)
    keys = {column.key for column in shown}
    return shown, [column for column in grid.columns if column.key not in keys]


def read_columns(path: Path, title: str) -> ChosenColumns:
    """Return what was chosen for a screen; nothing for a file that is missing or has another shape."""
    with contextlib.suppress(JsctlError, ValueError, TypeError, AttributeError, OSError):
        found = _read(path).get(title, {})
        return {str(part): tuple(map(str, keys)) for part, keys in found.items()}
    return {}


def write_columns(path: Path, title: str, columns: ChosenColumns) -> None:
    """Keep what was chosen for a screen, beside what is there for others. Raises OSError."""
    kept: dict[str, Any] = {}
    with contextlib.suppress(JsctlError, ValueError, TypeError, OSError):
        kept = dict(_read(path))
    kept[title] = {part: list(keys) for part, keys in columns.items() if keys}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(kept, indent=2).encode() + b"\n")


def _read(path: Path) -> Any:
    return parse_json(read_bytes(path)) if path.exists() else {}
