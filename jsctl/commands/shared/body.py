"""The messages of `publish` and `request`: their body, from the command line or stdin, and their
other parts.
"""

from collections.abc import Sequence
from typing import Protocol

from jsctl.env import Env
from jsctl.jetstream.message.compose import Composition
from jsctl.jetstream.message.stdin import STDIN, has_input, is_ours


class _Options(Protocol):
    @property
    def subject(self) -> str: ...
    @property
    def headers(self) -> tuple[str, ...]: ...
    @property
    def count(self) -> int: ...
    @property
    def templates(self) -> bool: ...
    @property
    def body(self) -> str | None: ...
    @property
    def force_stdin(self) -> bool: ...
    @property
    def send_on(self) -> str: ...


def read_body(env: Env, options: _Options) -> str | None:
    """Return the body on the command line; None for stdin, if flags ask for it or nothing else can be meant.

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
        env.say("jsctl: the body is empty because stdin belongs to the surrounding shell; use - to read it")
    return ""


def build_composition(
    options: _Options, *, fixed_headers: Sequence[tuple[str, str]] = (), reply: str = ""
) -> Composition:
    """Return what the messages of `publish` and `request` are composed of. options.body: None for stdin."""
    body = options.body
    return Composition(
        subject=options.subject,
        body=None if body is None else body.encode(errors="surrogateescape"),
        headers=options.headers,
        fixed_headers=fixed_headers,
        reply=reply,
        count=max(options.count, 1),
        by_line=options.send_on == "newline",
        templates=options.templates,
    )
