"""The flags of `publish`, `request` and `service request` that say what a message is made of."""

from collections.abc import Sequence
from typing import NamedTuple

import click

from jsctl.commands.cli import Count, declare_all, option
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.options.body import find_body
from jsctl.env import Env
from jsctl.jetstream.message.compose import Bursts, Source, compose
from jsctl.jetstream.message.stdin import Stdin
from jsctl.nats.message_template import MessageTemplate


class MessageFlags(NamedTuple):
    """The body, and the flags of `message_flags`."""

    body: str | None
    headers: tuple[str, ...]
    copies: int
    templates: bool
    send_on: str
    force_stdin: bool

    def find_body(self, env: Env) -> bytes | Stdin:
        """Return the body; see `body.find_body`."""
        return find_body(env, self.body, forced=self.force_stdin)

    def compose(
        self,
        env: Env,
        subject: str | None,
        source: Source,
        *,
        headers: Sequence[tuple[str, str]] = (),
        reply: str = "",
        pause: int = 0,
        jitter: int = 0,
        singly: bool = False,
    ) -> Bursts:
        """Return the messages; see MessageTemplate and `compose.compose`. headers: sent as they are.
        pause, jitter: ns. Raises BadInput."""
        template = MessageTemplate(
            subject,
            self.headers,
            headers,
            reply,
            fills=self.templates,
            with_wildcards=env.mirrors_nats,  # PUBLISH_INVALID
            warn=env.say,
        )
        copies, by_line = max(self.copies, 1), self.send_on == "newline"
        return compose(
            template, source, copies=copies, by_line=by_line, pause=pause, jitter=jitter, singly=singly
        )


_FLAGS = (
    option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; may be repeated"),
    option("--templates/--no-templates", default=True, help="Fill templates in subject and body (yes)"),
    option(
        "--send-on",
        type=click.Choice(("eof", "newline")),
        default="eof",
        metavar="eof|newline",
        help="When stdin is sent (eof)",
    ),
    option("--force-stdin", is_flag=True, help="Take the body from stdin"),
)


def message_flags(count: str) -> Decorator:
    """Declare the flags of MessageFlags, but for the body. count: the help of --count."""
    return declare_all(
        option("--count", "copies", type=Count(min=0), default=1, metavar="N", help=count), *_FLAGS
    )
