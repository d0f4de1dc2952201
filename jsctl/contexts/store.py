"""The context files, which the `nats` tool shares:

$XDG_CONFIG_HOME or ~/.config / nats / context / NAME.json
                              / nats / context.txt           the selected one's name
                              / nats / previous-context.txt

Folders are 0700, files 0600 and written atomically.
"""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.files import read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.posix import make_private_folder
from jsctl.base.units import join_some
from jsctl.base.user_folders import find_config_folder
from jsctl.contexts.model import KEYS, Context
from jsctl.contexts.settings import FILE_KEYS
from jsctl.errors import BadInput, NotFound

_SELECTED = "context.txt"
_PREVIOUS = "previous-context.txt"


class ContextStore:
    """The context files below `root`, the `nats` folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "ContextStore":
        """Return the store in $XDG_CONFIG_HOME, or without it in ~/.config."""
        return cls(find_config_folder(environ) / "nats")

    def names(self) -> list[str]:
        """Return the names of all contexts, sorted."""
        names = []
        with contextlib.suppress(FileNotFoundError):
            for path in (self.root / "context").iterdir():
                if path.suffix == ".json" and is_name(path.stem) and path.is_file() and path.stat().st_size:
                    names.append(path.stem)
        return sorted(names)

    def exists(self, name: str) -> bool:
        """Return whether a context exists. Raises BadInput for a name that is not valid."""
        return self.path(name).exists()

    def selected(self) -> str:
        """Return the name of the selected context, or an empty string."""
        return self._read_name(_SELECTED)

    def previous(self) -> str:
        """Return the name of the context that was selected before, or an empty string."""
        return self._read_name(_PREVIOUS)

    def format_select_hint(self) -> str:
        """Return what to do where no context is selected, with the names of some; empty if there are none."""
        names = self.names()
        return f"{build_line('context select')} selects one of {join_some(names)}" if names else ""

    def missing(self, name: str) -> NotFound:
        """Return the error for a context that does not exist."""
        return NotFound(*registry.find_noun("context").missing(name, existing=self.names()))

    def load(self, name: str) -> Context:
        """Read a context. Raises NotFound, or BadInput when its file is not a JSON object."""
        path = self.path(name)
        if not path.exists():
            if name == self.selected():
                raise NotFound(
                    f"the selected context {name!r} does not exist",
                    "select another with jsctl context select, or none with jsctl context unselect",
                )
            raise self.missing(name)
        return load_file(path)

    def find(self, name: str) -> Context:
        """Read a context by name, or by the path of a .json file. Raises NotFound, BadInput."""
        if name.endswith(".json") and Path(name).is_file():
            return load_file(Path(name))
        return self.load(name)

    def save(self, name: str, raw: Mapping[str, Any]) -> Context:
        """Write a context. Raises BadInput for a name that is not valid."""
        path = self.path(name)
        make_private_folder(self.root / "context")
        document = {**KEYS, **raw}
        write_atomically(path, json.dumps(document, indent=2, ensure_ascii=False))
        return Context(name, document, str(path))

    def remove(self, name: str) -> None:
        """Remove a context, and any selection of it, current or previous. Raises NotFound."""
        try:
            self.path(name).unlink()
        except FileNotFoundError:
            raise self.missing(name) from None
        for file in (_SELECTED, _PREVIOUS):
            if self._read_name(file) == name:
                (self.root / file).unlink(missing_ok=True)

    def select(self, name: str) -> None:
        """Select a context. Raises NotFound."""
        if not self.exists(name):
            raise self.missing(name)
        current = self.selected()
        if current != name:
            self._remember(current)
            make_private_folder(self.root / "context")
            write_atomically(self.root / _SELECTED, name)

    def unselect(self) -> str:
        """Clear the selection. Returns the name of the context that was selected, or an empty string."""
        current = self.selected()
        if current:
            self._remember(current)
            (self.root / _SELECTED).unlink(missing_ok=True)
        return current

    def path(self, name: str) -> Path:
        """Return the path of a context's file. Raises BadInput for a name that is not valid."""
        if not is_name(name):
            raise BadInput(
                f"{name!r} is not a valid context name", "use a name without slashes, '..' or a leading dot"
            )
        return self.root / "context" / f"{name}.json"

    def _remember(self, name: str) -> None:
        if name:
            make_private_folder(self.root / "context")
            write_atomically(self.root / _PREVIOUS, name)

    def _read_name(self, file: str) -> str:
        try:
            name = read_text(self.root / file, regular=True).strip()
        except BadInput:
            return ""
        return name if is_name(name) else ""


def list_names(environ: Mapping[str, str]) -> list[str]:
    """Return the names of all contexts, sorted."""
    return ContextStore.from_environment(environ).names()


def is_name(name: str) -> bool:
    """Return whether a context can have this name: a file in the folder, printable on one line."""
    return (
        bool(name)
        and not name.startswith(".")
        and not any(part in name for part in ("/", "\\", ".."))
        and name.isprintable()
        and name == name.strip()
    )


def load_file(path: Path) -> Context:
    """Read a context from any file. Raises BadInput when it is not a JSON object."""
    try:
        raw = parse(read_text(path, "context", regular=True))
    except ValueError as error:
        raise BadInput(
            f"context {path} cannot be used: {error}",
            f"repair it with {build_line('context edit', path.stem)}",
        ) from None
    return Context(path.stem, raw, str(path))


def parse(text: str) -> dict[str, Any]:
    """Parse the JSON of a context. Raises ValueError with the place of the mistake."""
    try:
        raw: Any = parse_json(text, allow_surrogates=True)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(raw, dict):
        raise ValueError("it is not a JSON object")
    for key, value in raw.items():
        empty = FILE_KEYS[key].empty if key in FILE_KEYS else None
        if empty is not None and value is not None and not isinstance(value, type(empty)):
            kind = {bool: "true or false", str: "text"}.get(type(empty), "an object")
            raise ValueError(f"{key!r} must be {kind}")
    return raw
