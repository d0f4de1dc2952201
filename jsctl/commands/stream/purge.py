"""`jsctl stream purge`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_streams
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.purge_estimate import estimate_purge
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Result
from jsctl.views.stream import removal as view


@dataclass(frozen=True, slots=True)
class Options:
    """seq: only messages before it; 0 or None for all. keep: how many of the newest messages stay."""

    stream: tuple[str, ...]
    subject: str
    seq: int | None
    keep: int | None
    dry_run: bool
    force: bool

    def __post_init__(self) -> None:
        if self.seq and self.keep:
            raise BadInput("--seq and --keep exclude each other")
        if self.subject and not is_subject(self.subject):
            raise BadInput(f"{self.subject!r} is not a valid subject")


@command(
    "purge",
    options=Options,
    examples=[
        "jsctl stream purge ORDERS",
        "jsctl stream purge ORDERS --subject 'ORDERS.eu.>' --keep 10 --dry-run",
        "jsctl stream purge ORDERS --seq 1000 --force",
        "jsctl stream purge 'LOGS_*' --force",
    ],
)
@argument("stream", nargs=-1)
@option("--subject", metavar="SUBJECT", default="", help="Only messages on this subject; may hold wildcards")
@option("--seq", type=click.IntRange(min=0), metavar="SEQUENCE", help="Only messages before this sequence")
@option(
    "--keep", type=click.IntRange(min=0), metavar="MESSAGES", help="Keep this many of the newest messages"
)
@option("--dry-run", is_flag=True, help="Only show what would be removed")
@option("--force", "-f", is_flag=True, help="Purge without asking")
async def purge(env: Env, options: Options) -> Result:
    """Asks once, however many names and patterns are given."""
    api = await env.jetstream()
    names = await pick_streams(env, api, options.stream)
    infos = await streams.infos(api, names)
    if options.dry_run or not options.force:
        subject, sequence, keep = options.subject, options.seq or 0, options.keep or 0
        estimates = await asyncio.gather(
            *(estimate_purge(api, info, subject=subject, sequence=sequence, keep=keep) for info in infos)
        )
        losses = dict(zip(names, estimates, strict=True))
        if options.dry_run:
            return view.dry_run("purge", losses)
        for name in names:
            if streams.is_internal(name):
                env.say(f"warning: {name} belongs to a bucket or the system, which may not expect this")
        await env.confirm(view.question("purge", losses), force=False)
    return await _purge(env, api, names, options)


async def _purge(env: Env, api: Api, names: Sequence[str], options: Options) -> Result:
    """Purge one after the other; when one fails, say what was done."""
    done: list[view.Purged] = []
    for name in names:
        try:
            count = await streams.purge(
                api, name, subject=options.subject, sequence=options.seq or 0, keep=options.keep or 0
            )
            done.append(view.Purged(count, await streams.info(api, name)))
        except JsctlError:
            if done:
                env.say("; ".join(map(view.purged_line, done)))
            raise
    return view.purged(done)
