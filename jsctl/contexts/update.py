"""Changes of a context: settings that are merged into it, with the checks that need no server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jsctl.contexts import schemes
from jsctl.contexts.layers import check_subject, from_context, merge
from jsctl.contexts.model import COLOR_SCHEMES, KEYS, Context
from jsctl.contexts.settings import CONTEXT_KEYS, DEFAULT_URL, FILE_KEYS, METHODS, PATHS, SUBJECTS
from jsctl.errors import BadInput


class Update(NamedTuple):
    """An update of a context. raw: the JSON of the updated context. replaced: the login methods that it
    no longer has."""

    raw: dict[str, Any]
    replaced: list[str]


def update(context: Context | None, values: Mapping[str, Any]) -> Update:
    """Merge settings into a context, or into an empty one.

    values: by Settings field, and `description`. Raises BadInput for contradictory or invalid values.
    """
    methods = [method for method in METHODS if values.get(method)]
    if len(methods) > 1 and not (len(methods) == 2 and "token" in methods and "user" not in methods):
        raise BadInput(
            "more than one way to log in", f"use one of {', '.join(f'--{method}' for method in methods)}"
        )
    raw: dict[str, Any] = dict(context.raw) if context else {}
    before = from_context(context) if context else {}
    after = merge(before, values)
    for field, key in CONTEXT_KEYS.items():
        if after.get(field) or raw.get(key):
            raw[key] = after.get(field) or FILE_KEYS[key].empty
    if "description" in values:
        raw["description"] = values["description"]
    if not raw.get("url") and not raw.get("nsc"):
        raw["url"] = DEFAULT_URL
    for key in map(CONTEXT_KEYS.__getitem__, SUBJECTS):
        check_subject(key, raw.get(key) or "")
    return Update(raw, [method for method in METHODS if before.get(method) and not after.get(method)])


def with_absolute_paths(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with absolute paths. Paths that begin with `~` or a variable stay as they are."""
    absolute = dict(values)
    for name in PATHS:
        path = absolute.get(name)
        if path and not path.startswith(("~", "$")) and not schemes.parse(path):
            absolute[name] = str(Path(path).absolute())
    return absolute


def find_contradictions(context: Context) -> list[str]:
    """Return the contradictions in a context, a phrase each."""
    values = from_context(context)
    problems = []
    methods = [method for method in METHODS if values.get(method) and method != "token"]
    if len(methods) > 1:
        problems.append(f"more than one login: {', '.join(methods)}")
    scheme = values.get("colors")
    if scheme and scheme not in COLOR_SCHEMES:
        problems.append(f"unknown color scheme {scheme!r}")
    if values.get("seed") and not values.get("jwt"):
        problems.append("user_seed without user_jwt")
    if any(key.startswith("windows_") and context.get(key) for key in KEYS):
        problems.append("the Windows certificate store is not supported; use cert, key and ca")
    return problems
