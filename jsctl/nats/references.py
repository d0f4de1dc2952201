"""References in settings, resolved to their values: in files, variables, 1Password, nsc or base64 (see
contexts/schemes). No error from here ever holds a secret."""

import base64
import binascii
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from urllib.parse import unquote

from jsctl.base import files
from jsctl.contexts.model import expand_path
from jsctl.contexts.schemes import DATA, ENV, FILE, NSC, Reference, parse
from jsctl.contexts.settings import SETTINGS, Settings
from jsctl.errors import BadInput

Tool = Callable[[str, list[str]], Awaitable[bytes]]
"""Runs another program with arguments; returns its output."""


async def resolve(settings: Settings, tool: Tool, nsc_creds: Callable[[str], Awaitable[str]]) -> Settings:
    """Return settings in which references are replaced by the values that they stand for.

    The value of a reference in place of a file goes to `files`, under the reference. nsc_creds: returns the
    path of the credentials that nsc has for a user. Raises BadInput, MissingDependency.
    """
    changes: dict[str, str] = {}
    texts = dict(settings.files)
    for field, setting in SETTINGS.items():
        if not setting.may_refer:
            continue
        value: str = getattr(settings, field)
        reference = parse(value)
        if reference is None or value in texts:
            continue
        is_path = setting.kind == "path"
        if is_path and reference.scheme == FILE:
            changes[field] = _parse_path(reference)
        elif field == "creds" and reference.scheme == NSC:
            changes[field] = await nsc_creds(value)
        elif is_path:
            texts[value] = await _read_text(field, reference, tool)
        else:
            changes[field] = (await _read_text(field, reference, tool)).strip()
    if not changes and len(texts) == len(settings.files):
        return settings
    return replace(settings, **changes, files=tuple(texts.items()))  # type: ignore[arg-type]


async def _read_text(field: str, reference: Reference, tool: Tool) -> str:
    scheme, rest = reference
    if scheme == FILE:
        return files.read_text(expand_path(_parse_path(reference)), field, errors="replace")
    if scheme == ENV:
        if not (value := os.environ.get(rest, "")):
            raise BadInput(f"the variable {rest} is not set, but the context takes its {field} from there")
        return value
    if scheme == DATA:
        try:
            return base64.b64decode(rest, validate=True).decode()
        except (binascii.Error, ValueError):
            raise BadInput(f"{field} is not valid base64 after {DATA}") from None
    if scheme == NSC:
        raise BadInput(f"{field} cannot come from nsc", "use nsc:// for creds")
    return (await tool("op", ["read", scheme + rest])).decode(errors="replace")


def _parse_path(reference: Reference) -> str:
    """Return the path of a file:// value: absolute, or `~` and variables as in other paths."""
    return unquote(reference.rest.removeprefix("localhost"))
