"""`jsctl stream cluster cancel-move`."""

from collections.abc import Sequence
from functools import partial

from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.observers.moves import wait_for_cancel
from jsctl.commands.picking.pick import open_matching_streams, open_stream
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.jetstream.cluster.peers import cancel_move as request_cancel
from jsctl.jetstream.cluster.peers import check_in_cluster
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import Intent
from jsctl.views.result import Lines, Result, Text
from jsctl.views.stream.info import info_page


@command(
    "cancel-move",
    examples=[
        "jsctl stream cluster cancel-move ORDERS",
        "jsctl stream cluster cancel-move ORDERS --force",
        "jsctl stream cluster cancel-move 'LOGS_*' --dry-run",
    ],
)
@argument("stream", default="")
@destructive("Cancel without asking, and do not wait")
async def cancel_move(env: Env, stream: str, force: bool) -> Result:
    """Undo what the stream's servers are changing: a move to other servers, another number of replicas, or
    another retention. The stream and its consumers go back to what they were before. A pattern such as
    'LOGS_*' does so for all streams that are moving.
    """
    if many := await open_matching_streams(env, stream):
        return await _cancel_many(env, *many, stream, force)
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    check_in_cluster(info)
    if not force or env.dry_run:
        if not info["cluster"].get("desired"):
            raise JsctlError(f"stream {name} is not moving", "jsctl stream info shows what it is changing to")
        await env.confirm(Intent(f"cancel the move of Stream {name}", {"stream": name}), force=force)
    await request_cancel(api, name)
    canceled = Text(f'Canceled move of "{name}"')
    if force:
        return Result([canceled], data={"stream": name, "canceled": True})
    [info] = await wait_for_cancel(env, "stream", partial(streams.fetch_infos, api, [name]))
    page = info_page(info)
    return page._replace(parts=[canceled, *page.parts])


async def _cancel_many(env: Env, api: Api, names: Sequence[str], pattern: str, force: bool) -> Result:
    """Cancel the moves of those streams that are moving. Raises JsctlError if none is."""
    infos = await streams.fetch_infos(api, [*names])
    moving = [info["config"]["name"] for info in infos if (info.get("cluster") or {}).get("desired")]
    if not moving:
        raise JsctlError(f"no stream that matches {pattern} is moving", "what has ended is not canceled")
    words = f"{pluralize(len(moving), 'stream')}: {', '.join(moving)}"
    await env.confirm(Intent(f"cancel the moves of {words}", {"streams": moving}), force=force)
    canceled, failed = list[str](), list[str]()
    for name in moving:
        try:
            await request_cancel(api, name)
            canceled.append(name)
        except JsctlError as error:  # it has ended meanwhile, for example; the others are still moving
            failed.append(f"{name}: {error.message}")
    if not force:
        try:
            await wait_for_cancel(env, "stream", partial(streams.fetch_infos, api, canceled))
        except JsctlError as error:
            failed.append(error.message)
    result = Result(
        [Lines([f'Canceled move of "{name}"' for name in canceled])],
        data={"streams": canceled, "canceled": bool(canceled), "failed": failed},
    )
    if not failed:
        return result
    left = JsctlError(f"{len(failed)} of {len(moving)} moves were not canceled: {'; '.join(failed)}")
    return result._replace(error=left, status=left.status)
