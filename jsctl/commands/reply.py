"""`jsctl reply`."""

import os
from dataclasses import dataclass

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.idle import choose_idle_limit
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.respond import Answers, Request, Responder
from jsctl.jetstream.message.translate import split_command
from jsctl.nats.message_template import compile_headers
from jsctl.nats.subjects import validate_subject
from jsctl.nats.templates import Template, compile_template, warn_of_unknown_functions
from jsctl.views.events import Events
from jsctl.views.message import reply as view

HELP = """\
The answer is BODY, a template as in `jsctl publish --help` with {{Request}} for the request's payload; with
--echo, or without BODY, the request itself; or what a command writes to stdout. In a command, {{0}}, {{1}}
... are the tokens of the request's subject and {{Request}} its payload. They are filled in after the
command was split into words: a request cannot add words, and no shell reads them. The command finds both in
NATS_REQUEST_SUBJECT and NATS_REQUEST_BODY as well. Where it fails, takes longer than a minute or writes
more than a message can hold, the reply says so in its headers.

Several repliers in one queue group share the requests; one with --weight 3 gets three times as many.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. sleep: ns."""

    subject: str
    body: str
    echo: bool
    command: str
    queue: str
    weight: int
    sleep: int
    headers: tuple[str, ...]
    count: int

    def __post_init__(self) -> None:
        validate_subject(self.subject, "subscribe to")
        if self.weight < 1:
            raise BadInput("--weight must be 1 or more")


@command(
    "reply",
    help=HELP,
    examples=[
        "jsctl reply echo --echo",
        "jsctl reply time '{{TimeStamp}}' --count 10",
        "jsctl reply 'weather.*' --command 'curl -s wttr.in/{{1}}?format=3'",
    ],
)
@argument("subject")
@argument("body", required=False, default="")
@option("--echo", is_flag=True, help="Answer with the request")
@option("--command", metavar="COMMAND", default="", help="Answer with what a command writes to stdout")
@option("--queue", "-q", metavar="GROUP", default="NATS-RPLY-22", help="Queue group (NATS-RPLY-22)")
@option("--weight", type=int, default=1, metavar="N", help="Take N shares of the group's requests (1)")
@option("--sleep", type=DURATION, default=0, metavar="MAX", help="Wait up to MAX before each reply")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; may be repeated")
@option("--count", type=int, default=0, metavar="N", help="End after N requests")
async def reply(env: Env, options: Options) -> Events[Request]:
    if sum((bool(options.body), options.echo, bool(options.command))) > 1 and not env.mirrors_nats:
        raise BadInput("BODY, --echo and --command exclude each other", "use one")  # EXCLUSIVE_FLAGS
    echo = options.echo or not (options.body or options.command)
    if echo and not options.echo:
        env.inform("there is no BODY and no --command: the answer is the request, as with --echo")
    answers = Answers(
        body=compile_template(os.fsencode(options.body)),
        headers=compile_headers(options.headers),
        echo=echo,
        command=_compile_words(options.command) if options.command else (),
        sleep=options.sleep,
    )
    headers = [value for _, value in answers.headers]
    if warning := warn_of_unknown_functions([answers.body, *answers.command, *headers]):
        env.say(warning)
    responder = Responder(
        await env.connection(),
        answers,
        options.subject,
        options.queue,
        weight=options.weight,
        limit=options.count,
        announce=env.say,
        warn=env.say,
    )
    return view.events(responder).end_after(choose_idle_limit(env, 0, options.count))


def _compile_words(command: str) -> list[Template]:
    """Return the words of a command, each a template."""
    return [compile_template(os.fsencode(word), with_tokens=True) for word in split_command(command)]
