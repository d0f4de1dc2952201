"""The context files on disk, shared with the `nats` tool:

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
from jsctl.contexts.model import KEYS, Context
from jsctl.errors import BadInput, NotFound
from jsctl.files import write_atomically

_SELECTED = "context.txt"
_PREVIOUS = "previous-context.txt"


class ContextStore:
    """Contexts below `root` (the `nats` folder)."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "ContextStore":
        """The store in $XDG_CONFIG_HOME, else ~/.config."""
        config = environ.get("XDG_CONFIG_HOME")
        home = environ.get("HOME")
        return cls((Path(config) if config else (Path(home) if home else Path.home()) / ".config") / "nats")

    def names(self) -> list[str]:
        """All contexts, sorted."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for path in (self.root / "context").iterdir():
                if path.suffix == ".json" and is_name(path.stem) and path.is_file() and path.stat().st_size:
                    found.append(path.stem)
        return sorted(found)

    def exists(self, name: str) -> bool:
        """Raises BadInput for an impossible name."""
        return self.path(name).exists()

    def selected(self) -> str:
        """The selected context's name, or an empty string."""
        return self._read_name(_SELECTED)

    def previous(self) -> str:
        """The context selected before, or an empty string."""
        return self._read_name(_PREVIOUS)

    def load(self, name: str) -> Context:
        """Raises NotFound, or BadInput when the file is not a JSON object."""
        path = self.path(name)
        if not path.exists():
            if name == self.selected():
                raise NotFound(
                    f"the selected context {name!r} does not exist",
                    "jsctl context select picks another, jsctl context unselect none",
                )
            raise NotFound(*registry.noun("context").missing(name))
        return load_file(path)

    def find(self, name: str) -> Context:
        """A context by name, or by the path of a .json file. Raises NotFound, BadInput."""
        if name.endswith(".json") and Path(name).is_file():
            return load_file(Path(name))
        return self.load(name)

    def save(self, name: str, raw: Mapping[str, Any]) -> Context:
        """Write a context whole or not at all. Raises BadInput for an impossible name."""
        path = self.path(name)
        self._make_folders()
        document = {**KEYS, **raw}
        write_atomically(path, json.dumps(document, indent=2, ensure_ascii=False))
        return Context(name, document, str(path))

    def remove(self, name: str) -> None:
        """Remove a context; when it was selected or the previous one, none is. Raises NotFound."""
        try:
            self.path(name).unlink()
        except FileNotFoundError:
            raise NotFound(*registry.noun("context").missing(name)) from None
        for file in (_SELECTED, _PREVIOUS):
            if self._read_name(file) == name:
                (self.root / file).unlink(missing_ok=True)

    def select(self, name: str) -> None:
        """Make a context the selected one. Raises NotFound."""
        if not self.exists(name):
            raise NotFound(*registry.noun("context").missing(name))
        current = self.selected()
        if current != name:
            self._remember(current)
            self._make_folders()
            write_atomically(self.root / _SELECTED, name)

    def unselect(self) -> str:
        """Select no context; returns the one that was selected, or an empty string."""
        current = self.selected()
        if current:
            self._remember(current)
            (self.root / _SELECTED).unlink(missing_ok=True)
        return current

    def path(self, name: str) -> Path:
        """Where a context is kept. Raises BadInput for names that leave the folder."""
        if not is_name(name):
            raise BadInput(
                f"invalid context name {name!r}", "use a name without slashes, '..' or a leading dot"
            )
        return self.root / "context" / f"{name}.json"

    def _make_folders(self) -> None:
        # Path.mkdir gives parents the default mode.
        for folder in (self.root, self.root / "context"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _remember(self, name: str) -> None:
        if name:
            self._make_folders()
            write_atomically(self.root / _PREVIOUS, name)

    def _read_name(self, file: str) -> str:
        try:
            name = (self.root / file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return name if is_name(name) else ""


def names(environ: Mapping[str, str]) -> list[str]:
    """The names of all contexts, sorted."""
    return ContextStore.from_environment(environ).names()


def is_name(name: str) -> bool:
    """Whether a context can have this name: it stays in its folder and on one line."""
    return (
        bool(name)
        and not name.startswith(".")
        and not any(part in name for part in ("/", "\\", ".."))
        and name.isprintable()
        and name == name.strip()
    )


def load_file(path: Path) -> Context:
    """A context from any file. Raises BadInput when it is not a JSON object."""
    try:
        raw = parse(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BadInput(f"context {path} is not text") from None
    except OSError as error:
        raise BadInput(f"cannot read context {path}: {error.strerror}") from None
    except ValueError as error:
        raise BadInput(
            f"context {path} cannot be used: {error}", f"jsctl context edit {path.stem} can repair it"
        ) from None
    return Context(path.stem, raw, str(path))


def parse(text: str) -> dict[str, Any]:
    """A context's JSON object. Raises ValueError with the place of what is wrong."""
    try:
        raw: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(raw, dict):
        raise ValueError("it must hold a JSON object")
    for key, empty in KEYS.items():
        value = raw.get(key, empty)
        if empty is not None and value is not None and not isinstance(value, type(empty)):
            kind = "true or false" if isinstance(empty, bool) else "text"
            raise ValueError(f"{key!r} must be {kind}")
    return raw
