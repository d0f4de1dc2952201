"""What the flags of `redrive` ask for."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import click

from jsctl.base.files import read_input
from jsctl.base.units import to_ns
from jsctl.commands.cli import declare_all, option
from jsctl.commands.options.decoding import selecting_match_flag
from jsctl.commands.options.past_time import parse_time_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.edit_options import EditOptions
from jsctl.jetstream.find.expression import Condition
from jsctl.jetstream.redrive.choose import Choice, parse_sequences
from jsctl.jetstream.redrive.lag import PAUSE_NAMES
from jsctl.monitor.consumer.dead_letters import fetch_dead_letters

if TYPE_CHECKING:
    from jsctl.schema.payloads.reader import Reader

Uncertain = Literal["send", "skip"] | None


COUNT = click.IntRange(min=1)

choosing_flags = declare_all(
    option("--dead", is_flag=True, help="What CONSUMER gave up, as consumer dead lists it"),
    option(
        "--sequences",
        selects=True,
        metavar="FILE",
        default="",
        help="Sequences, one per line, or JSON as of consumer dead; - is stdin",
    ),
    option(
        "--since", selects=True, metavar="TIME", default="", help="Stored then or later; 2h is two hours ago"
    ),
    option("--until", selects=True, metavar="TIME", default="", help="Stored earlier"),
    option("--first-seq", selects=True, type=COUNT, metavar="N", help="From this sequence on"),
    option("--last-seq", selects=True, type=COUNT, metavar="N", help="Up to this sequence"),
    option(
        "--filter",
        selects=True,
        metavar="SUBJECT",
        multiple=True,
        help="On one of these subjects; may have wildcards",
    ),
    option(
        "--header",
        selects=True,
        metavar="NAME:VALUE",
        multiple=True,
        help="With one of these headers; or NAME",
    ),
    selecting_match_flag,
    option("--limit", type=COUNT, metavar="N", help="At most the first N of these"),
)
"""The flags that choose messages."""


target_flags = declare_all(
    option(
        "--subject",
        selects=True,
        metavar="SUBJECT",
        default="",
        help="Publish on it; in retry.>, > is the own subject",
    ),
    option(
        "--stream",
        "to_stream",
        metavar="STREAM",
        default="",
        noun="stream",
        help="Stream that stores them",
    ),
    option(
        "--to-consumer", is_flag=True, help="Publish on the own subject, so that CONSUMER gets them again"
    ),
    option("--allow-loop", is_flag=True, help="Permit a target that leads back to CONSUMER"),
)
"""The flags that say where messages go."""


@dataclass(frozen=True, slots=True)
class ChoiceOptions:
    """The flags that choose messages. Times and expressions as they were typed, as a journal has them."""

    dead: bool = False
    sequences: str = ""
    since: str = ""
    until: str = ""
    first_seq: int | None = None
    last_seq: int | None = None
    filter: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    condition: Condition | None = None
    limit: int | None = None

    @property
    def is_choosing(self) -> bool:
        """Whether anything chooses messages."""
        return self != ChoiceOptions(limit=self.limit)

    async def read(self, env: Env, api: Api, stream: str, consumer: str, reader: "Reader | None") -> Choice:
        """Return what chooses messages. reader: of --match. Raises BadInput, and what requests raise."""
        since, until = (
            None if (time := parse_time_flag(env, flag, text)) is None else to_ns(time)
            for flag, text in (("--since", self.since), ("--until", self.until))
        )
        if since is not None and until is not None and since >= until:
            raise BadInput("--since must be earlier than --until")
        filters = EditOptions(
            subject=self.filter,
            after=since,
            before=until,
            first_seq=self.first_seq,
            last_seq=self.last_seq,
            header=self.header,
        )
        matches = None if reader is None else lambda message: reader.read(message) is not None
        sequences = None
        if self.dead:
            dead = await fetch_dead_letters(api, stream, consumer)
            for doubt in dead.doubts:
                env.say(f"warning: {doubt}")
            if missing := dead.explain_missing(stream, consumer):
                env.say(missing)
            sequences = [letter.sequence for letter in dead.letters]
        elif self.sequences:
            name = "stdin" if self.sequences == "-" else self.sequences
            sequences = parse_sequences(read_input(self.sequences, env.streams.stdin), name)
        return Choice(sequences, filters, matches, self.limit or 0)


@dataclass(frozen=True, slots=True)
class RedriveOptions:
    """The flags."""

    stream: str
    consumer: str
    choice: ChoiceOptions
    subject: str
    to_stream: str
    to_consumer: bool
    allow_loop: bool
    rate: int | None
    pause_on: Condition | None
    max_redrives: int
    quarantine: str
    again: bool
    journal: str
    uncertain: Uncertain
    undo: str
    unprotect: tuple[str, ...]
    force: bool

    def __post_init__(self) -> None:
        if self.undo:
            if self.stream or self.consumer or self.choice.is_choosing or self.has_target or self.journal:
                raise BadInput("--undo FILE stands alone", "the journal says what was stored, and where")
            return
        if self.unprotect:
            raise BadInput("--unprotect is for --undo")
        if not self.has_target:
            raise BadInput("the target is missing", "specify --subject, --stream or --to-consumer")
        if self.to_consumer and (self.subject or self.to_stream):
            raise BadInput("--to-consumer and another target cannot be used together")
        if not self.choice.is_choosing:
            raise BadInput(
                "nothing chooses messages",
                "specify --dead, --sequences, --since, --filter or another of these",
            )
        if self.choice.dead and self.choice.sequences:
            raise BadInput("--dead and --sequences cannot be used together")
        if self.uncertain and not self.journal:
            raise BadInput("--uncertain is for --journal")
        if self.pause_on and (unknown := sorted(self.pause_on.names - PAUSE_NAMES)):
            raise BadInput(f"--pause-on does not know {unknown[0]}", f"use {', '.join(sorted(PAUSE_NAMES))}")

    @property
    def has_target(self) -> bool:
        """Whether a target is named."""
        return bool(self.subject or self.to_stream or self.to_consumer)

    def list_fixed(self) -> Json:
        """Return what must be the same for a journal to go on: what chooses messages, and where they go."""
        values = {field.name: getattr(self.choice, field.name) for field in fields(self.choice)}
        condition = values.pop("condition")
        names = ("subject", "to_stream", "to_consumer", "max_redrives", "quarantine", "again")
        values |= {name: getattr(self, name) for name in names}
        return {
            **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
            "match": condition.text if condition else "",
        }
