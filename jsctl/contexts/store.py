"""The context files on disk, shared with the `nats` tool:

$XDG_CONFIG_HOME or ~/.config / nats / context / NAME.json
                              / nats / context.txt           the selected one's name
                              / nats / previous-context.txt
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsctl.contexts.model import Context
from jsctl.errors import BadInput, NotFound


class ContextStore:
    """Contexts below `root` (the `nats` folder)."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "ContextStore":
        """The store in $XDG_CONFIG_HOME, else ~/.config."""
        home = environ.get("XDG_CONFIG_HOME")
        return cls((Path(home) if home else Path.home() / ".config") / "nats")

    def names(self) -> list[str]:
        """All contexts, sorted."""
        return sorted(path.stem for path in (self.root / "context").glob("*.json") if path.stat().st_size)

    def selected(self) -> str:
        """The selected context's name, or an empty string."""
        return self._read_name("context.txt")

    def load(self, name: str) -> Context:
        """Raises NotFound, or BadInput when the file is not a JSON object."""
        path = self.path(name)
        try:
            raw: Any = json.loads(path.read_text())
        except FileNotFoundError:
            raise NotFound(f"unknown context {name!r}", "jsctl context ls shows what is there") from None
        except (ValueError, OSError) as error:
            raise BadInput(f"cannot read context {name!r} from {path}: {error}") from error
        if not isinstance(raw, dict):
            raise BadInput(f"{path} is no context: it must hold a JSON object")
        return Context(name, raw)

    def path(self, name: str) -> Path:
        """Where a context is kept. Raises BadInput for names that leave the folder."""
        if not name or "/" in name or "\\" in name or ".." in name or "\0" in name:
            raise BadInput(f"invalid context name {name!r}", "use a name without slashes or '..'")
        return self.root / "context" / f"{name}.json"

    def _read_name(self, file: str) -> str:
        try:
            return (self.root / file).read_text().strip()
        except OSError:
            return ""
