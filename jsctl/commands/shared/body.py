"""Where the body of `publish` and `request` comes from."""

from typing import Protocol, TextIO

from jsctl.jetstream.message.stdin import is_ours

STDIN = "-"
"""A body that asks for stdin."""


class _Options(Protocol):
    @property
    def body(self) -> str | None: ...
    @property
    def force_stdin(self) -> bool: ...
    @property
    def send_on(self) -> str: ...


def body_of(options: _Options, stdin: TextIO) -> str | None:
    """Return the body that was given; None takes stdin: if it was asked for, or nothing else can be meant."""
    if options.body == STDIN or (
        options.body is None and (options.force_stdin or options.send_on == "newline")
    ):
        return None
    if options.body is None and not is_ours(stdin):
        return ""
    return options.body
