"""The operator to use by default, saved in the file of the `nats` tool:

$XDG_CONFIG_HOME or ~/.config / nats / cli / config.json        {"select_operator": NAME}
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsctl.base.files import escape_path, read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.posix import make_private_folder
from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput

_KEY = "select_operator"


def read_selected_operator(environ: Mapping[str, str]) -> str:
    """Return the name of the selected operator; empty when none is selected or the file cannot be read."""
    try:
        return str(_load(_get_path(environ)).get(_KEY) or "")
    except BadInput:
        return ""


def select_operator(environ: Mapping[str, str], name: str) -> None:
    """Select an operator; the rest of the file stays unchanged. Raises BadInput, OSError."""
    path = _get_path(environ)
    config = {**_load(path), _KEY: name}
    make_private_folder(path.parent)
    write_atomically(path, json.dumps(config, ensure_ascii=False))


def _get_path(environ: Mapping[str, str]) -> Path:
    return ContextStore.from_environment(environ).root / "cli" / "config.json"


def _load(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        config = parse_json(read_text(path, regular=True))
    except ValueError as error:
        raise BadInput(f"{escape_path(path)} is not JSON: {error}") from None
    if not isinstance(config, dict):
        raise BadInput(f"{escape_path(path)} is not a JSON object")
    return config
