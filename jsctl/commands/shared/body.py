"""The source of the body of `publish` and `request`."""

from typing import Protocol

from jsctl.env import Env
from jsctl.jetstream.message.stdin import has_input, is_ours

STDIN = "-"
"""A body that asks for stdin."""


class _Options(Protocol):
    @property
    def body(self) -> str | None: ...
    @property
    def force_stdin(self) -> bool: ...
    @property
    def send_on(self) -> str: ...


def read_body(env: Env, options: _Options) -> str | None:
    """Return the given body; for None stdin, if it was asked for or nothing else can be meant.

    Warns when the body is empty while a loop or a script around this command has input left.
    """
    if options.body == STDIN:
        return None
    if options.body is not None or options.force_stdin or options.send_on == "newline":
        return options.body
    stdin = env.streams.stdin
    if is_ours(stdin):
        return None
    if has_input(stdin):
        env.say("jsctl: the body is empty, as stdin is left to the shell around this command; - reads stdin")
    return ""
