"""The flags of `auth account exports add` and `edit`."""

from functools import partial

import click

from jsctl.auth.sharing import RESPONSE_TYPES
from jsctl.commands.cli import declare_all, option

_flag = partial(option, into="export")

export_flags = declare_all(
    _flag("--description", metavar="TEXT", help="Description of the export"),
    _flag("--url", metavar="URL", help="Where to read more about the export"),
    _flag(
        "--token-position",
        metavar="N",
        type=click.IntRange(min=0),
        help="Position of the token that is the importing account's public key; 0 for none",
    ),
    _flag("--advertise/--no-advertise", default=None, help="Advertise the export"),
    _flag("--private/--public", default=None, help="Let only accounts with an activation token import it"),
    _flag(
        "--response-type",
        type=click.Choice(list(RESPONSE_TYPES), case_sensitive=False),
        help="How a service replies: once, many times, or in chunks",
    ),
    _flag("--response-threshold", metavar="DURATION", help="How long a service may take for its reply"),
    _flag("--latency", metavar="SUBJECT", help="Publish measured latencies of the service; empty for none"),
    _flag("--sampling", metavar="PERCENT", help="Requests that are measured (100), or: header"),
    _flag("--allow-trace/--no-allow-trace", default=None, help="Let traces go through the service"),
)
"""Adds the flags of an export; the values of those that were given arrive as `export`."""
