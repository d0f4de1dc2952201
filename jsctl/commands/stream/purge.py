"""`jsctl stream purge`."""

import asyncio
from collections.abc import Sequence

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_streams
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import purge_loss as loss
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Part, Result, Text
from jsctl.views.stream import info as view
from jsctl.views.stream import removal


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
@option("--subject", metavar="SUBJECT", default="", help="Only messages on this subject; wildcards too")
@option("--seq", type=click.IntRange(min=0), metavar="SEQUENCE", help="Only messages before this sequence")
@option("--keep", type=click.IntRange(min=0), metavar="MESSAGES", help="Keep so many of the newest messages")
@option("--dry-run", is_flag=True, help="Only say what would go")
@option("--force", "-f", is_flag=True, help="Purge without asking")
async def purge(
    env: Env,
    stream: tuple[str, ...],
    subject: str,
    seq: int | None,
    keep: int | None,
    dry_run: bool,
    force: bool,
) -> Result:
    """Asks once, however many names and patterns are given."""
    if seq and keep:
        raise BadInput("--seq and --keep exclude each other")
    if subject and not is_subject(subject):
        raise BadInput(f"{subject!r} is no subject")
    limits = {"filter": subject, "seq": seq or 0, "keep": keep or 0}
    body = {key: value for key, value in limits.items() if value}
    api = await env.jetstream()
    names = await pick_streams(env, api, stream)
    infos = await streams.infos(api, names)
    if dry_run or not force:
        found = await asyncio.gather(
            *(loss.of_purge(api, info, subject=subject, sequence=seq or 0, keep=keep or 0) for info in infos)
        )
        losses = dict(zip(names, found, strict=True))
        if dry_run:
            return removal.dry_run("purge", losses)
        for name in names:
            if streams.is_internal(name):
                env.say(f"warning: {name} belongs to a bucket or the system, which may not expect this")
        await env.confirm(removal.question("purge", losses), force=False)
    return await _purge(env, api, names, body)


async def _purge(env: Env, api: Api, names: Sequence[str], body: Json) -> Result:
    """Purge one after the other; when one fails, say what was done."""
    done: list[tuple[int, Json]] = []
    for name in names:
        try:
            purged = int((await api.call(f"STREAM.PURGE.{name}", body or None)).get("purged", 0))
            done.append((purged, await streams.info(api, name)))
        except JsctlError:
            if done:
                env.say("; ".join(removal.purged(count, info) for count, info in done))
            raise
    parts: list[Part] = []
    for count, info in done:
        parts += [Text(removal.purged(count, info)), *view.sheet(info, state_only=True).parts]
    infos = [info for _, info in done]
    return Result(parts, data=infos if len(infos) > 1 else infos[0])
