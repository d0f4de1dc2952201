"""`jsctl consumer reset`."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

import click

from jsctl.base.units import format_count, to_ns
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.consumer.losing import find_losing
from jsctl.commands.options.data_loss import LossOptions, loss_flags
from jsctl.commands.options.past_time import parse_time_flag
from jsctl.commands.picking.pick import open_consumer, open_stream
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.change_estimate import Changes
from jsctl.jetstream.message.reset_preview import Preview, Start, preview_reset
from jsctl.views.consumer import info as view
from jsctl.views.consumer.intent import change_intent, reset_intent
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. consumer: a name, or a pattern such as NEW_*. time: as it was typed."""

    stream: str
    consumer: str
    sequence: int | None
    time: str
    end: bool
    permits: LossOptions
    force: bool

    def __post_init__(self) -> None:
        if bool(self.sequence) + bool(self.time) + self.end > 1:
            raise BadInput("only one of --sequence, --time and --end can be used")


@command(
    "reset",
    examples=[
        "jsctl consumer reset ORDERS NEW",
        "jsctl consumer reset ORDERS NEW --sequence 1000",
        "jsctl consumer reset ORDERS NEW --time 2h --dry-run",
        "jsctl consumer reset ORDERS 'NEW_*' --end",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@option(
    "--sequence",
    type=click.IntRange(min=0),
    selects=True,
    metavar="SEQUENCE",
    help="Deliver from this sequence (default: the ack floor)",
)
@option(
    "--time",
    selects=True,
    metavar="TIME",
    default="",
    help="Deliver what was stored then or later; 2h is 2 hours ago",
)
@option("--end", is_flag=True, help="Deliver only what is stored from now on")
@loss_flags
@destructive("Reset without asking")
async def reset(env: Env, options: Options) -> Result:
    """Say first how many messages come again, and how many are skipped. A pattern such as 'NEW_*' resets all
    consumers that match.
    """
    time = parse_time_flag(env, "--time", options.time)
    start = Start(options.sequence or 0, to_ns(time) if time else None, options.end)
    api, stream, infos = await _find_consumers(env, options)
    previews = [(info, await preview_reset(api, info, start)) for info in infos]
    resets = {str(info["name"]): preview.sequence for info, preview in previews if not start.is_floor}
    losing = await find_losing(api, stream, Changes(resets=resets))
    if len(previews) == 1:
        info, preview = previews[0]
        where = f" to {_describe(start, preview)}; {preview}"
        facts = {**preview.to_json(), "sequence": None if start.is_floor else preview.sequence}
        intent = change_intent("reset", info, where, losing.loss, **facts)
    else:
        intent = reset_intent(stream, previews, losing.loss)
    await options.permits.confirm(env, intent, [losing], force=options.force)
    after = [await _reset(api, stream, info, preview, start) for info, preview in previews]
    if len(after) == 1:
        return view.info_page(after[0], state_only=True)
    pages = [view.info_page(info, state_only=True) for info in after]
    return Result([part for page in pages for part in page.parts], data=[page.document() for page in pages])


async def _find_consumers(env: Env, options: Options) -> tuple[Api, str, list[Json]]:
    """Return the infos of the consumer that is named, or of those that match a pattern."""
    if not any(mark in options.consumer for mark in "*?["):
        api, stream, name = await open_consumer(env, options.stream, options.consumer)
        return api, stream, [await consumers.fetch_info(api, stream, name)]
    api, stream = await open_stream(env, options.stream)
    infos = (await consumers.list_consumers(api, stream)).infos
    matching = [info for info in infos if fnmatchcase(info["name"], options.consumer)]
    if not matching:
        raise NotFound(f"no consumer of stream {stream} matches {options.consumer}")
    return api, stream, sorted(matching, key=lambda info: str(info["name"]))


async def _reset(api: Api, stream: str, info: Json, preview: Preview, start: Start) -> Json:
    is_resettable = info["config"].get("deliver_policy") in consumers.RESETTABLE
    # Without a sequence, the server (2.15) skips the messages that reached max_deliver.
    sequence = preview.sequence if not start.is_floor or is_resettable else None
    return await consumers.reset(api, stream, str(info["name"]), sequence)


def _describe(start: Start, preview: Preview) -> str:
    if start.is_end:
        return "the end of the stream"
    return "its acknowledgement floor" if start.is_floor else f"sequence {format_count(preview.sequence)}"
