"""Completion of error codes."""

from typing import TYPE_CHECKING

import click

from jsctl.errors import JsctlError
from jsctl.jetstream import error_catalog

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the API error codes that begin with the incomplete word, each with its description: the
    server's, or those of the file on the command line.
    """
    from click.shell_completion import CompletionItem

    path = ctx.params.get("file") or ctx.obj.flags.get("errors_file", "")
    try:
        entries = error_catalog.load(path)
    except JsctlError:
        return []
    codes = {str(entry["error_code"]): str(entry["description"]) for entry in entries}
    return [
        CompletionItem(code, help=text) for code, text in sorted(codes.items()) if code.startswith(incomplete)
    ]
