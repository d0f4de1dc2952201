"""`jsctl stream purge`."""

from dataclasses import dataclass

import click

from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.options.protection import refuse_unknown, unprotect_flag
from jsctl.commands.picking.pick import pick_streams
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.removal import PurgeLimits, estimate_purges, purge_streams
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Result
from jsctl.views.stream import removal as view

_COUNT = click.IntRange(min=0)


@dataclass(frozen=True, slots=True)
class Options:
    """seq: only messages before it; None for all. keep: how many of the newest messages stay."""

    stream: tuple[str, ...]
    subject: str
    seq: int | None
    keep: int | None
    unprotect: tuple[str, ...]
    force: bool

    def __post_init__(self) -> None:
        if self.seq and self.keep:
            raise BadInput("--seq and --keep cannot be used together")
        if self.subject and not is_subject(self.subject):
            raise BadInput(f"{self.subject!r} is not a valid subject")


@command(
    "purge",
    examples=[
        "jsctl stream purge ORDERS",
        "jsctl stream purge ORDERS --subject 'ORDERS.eu.>' --keep 10 --dry-run",
        "jsctl stream purge ORDERS --seq 1000 --force",
        "jsctl stream purge 'LOGS_*' --force",
    ],
)
@argument("stream", nargs=-1)
@option(
    "--subject",
    metavar="SUBJECT",
    default="",
    selects=True,
    help="Only messages on this subject; may contain wildcards",
)
@option("--seq", type=_COUNT, metavar="SEQUENCE", selects=True, help="Only messages before this sequence")
@option("--keep", type=_COUNT, metavar="MESSAGES", selects=True, help="Keep this many of the newest messages")
@unprotect_flag
@destructive("Purge without asking", "Only show what would be removed", missing_ok=True)
async def purge(env: Env, options: Options) -> Result:
    """Ask once, however many names and patterns are given."""
    api = await env.jetstream()
    names = await pick_streams(env, api, options.stream)
    refuse_unknown(options.unprotect, names)
    limits = PurgeLimits(options.subject, options.seq or 0, options.keep or 0)
    if env.dry_run or not options.force:
        losses = await estimate_purges(api, names, limits, options.unprotect)
        for warning in view.warnings(names):
            env.say(warning)
        await env.confirm(view.intent("purge", losses, limits), force=options.force)
    purged = await purge_streams(
        api, names, limits, lambda done: env.say(view.purged_lines(done)), options.unprotect
    )
    return view.purged(purged)
