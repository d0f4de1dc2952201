"""`jsctl stream edit`."""

from functools import partial

import click

from jsctl.base.units import format_count, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.editing.editing import Editable, EditOptions, edit_config, edit_flags
from jsctl.commands.options.data_loss import find_losing
from jsctl.commands.picking.pick import open_matching_streams, open_stream
from jsctl.commands.stream.flags import SECTIONS, StreamFlags, stream_flags
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.held import find_change_warnings
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM, find_warnings
from jsctl.jetstream.stream.replicas import count_replicas, list_free_servers, make_again
from jsctl.monitor.server.requests import ping_account
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text
from jsctl.views.stream import info as view


@command(
    "edit",
    sections=SECTIONS,
    examples=[
        "jsctl stream edit ORDERS --max-age 30d",
        "jsctl stream edit ORDERS --config orders.yaml --dry-run",
        "jsctl stream edit ORDERS --interactive",
        "jsctl stream edit 'LOGS_*' --replicas 3 --max-moves 4 --dry-run",
    ],
)
@argument("stream", default="")
@edit_flags("stream")
@stream_flags("edit")
@option(
    "--max-moves",
    type=click.IntRange(min=1),
    metavar="N",
    default=None,
    help="With a pattern, how many streams servers copy at a time (2)",
)
async def edit(
    env: Env, stream: str, editing: EditOptions, flags: StreamFlags, max_moves: int | None
) -> Result:
    """Change what the flags name; other settings stay as they are. --replicas with the number that a stream
    should have makes those again that it has lost.

    A pattern such as 'LOGS_*' changes many streams, as one plan: what servers must copy, and what is in the
    way, is shown before a question. It ends when all replicas are current, or after --timeout; what was
    interrupted is continued by the same line. `stream cluster cancel-move` with the pattern cancels what is
    not finished.
    """
    file = editing.read_config(env, STREAM, changed=bool(flags.fields))
    if many := await open_matching_streams(env, stream):
        from jsctl.commands.declared.trying import try_on_scratch_server
        from jsctl.commands.editing.many_streams import MAX_MOVES, edit_many

        most, has_replicas = max_moves or MAX_MOVES, "replicas" in flags.values
        try_out = try_on_scratch_server(env)
        return await edit_many(
            env, *many, stream, file, flags.apply, editing, most, try_out, has_replicas=has_replicas
        )
    if max_moves is not None:
        raise BadInput("--max-moves is for several streams", "use a pattern, or leave it out")
    api, name = await open_stream(env, stream or STREAM.get_name(file or {}))
    if result := await _make_replicas(env, api, name, flags, editing):
        return result
    label = f"Stream {name}"
    target = Editable(
        schema=STREAM,
        label=label,
        fetch=partial(streams.fetch_info, api, name),
        name_keys={"name": name},
        apply_flags=flags.apply,
        update=partial(streams.update, api),
        find_losing=partial(find_losing, env, api, label),
        info_page=view.info_page,
        find_warnings=partial(_find_warnings, api),
    )
    return await edit_config(env, target, file, editing)


async def _find_warnings(api: Api, info: Json, draft: Json) -> list[str]:
    return [*find_warnings(draft, api.own_domain), *await find_change_warnings(api, info, draft)]


async def _make_replicas(
    env: Env, api: Api, name: str, flags: StreamFlags, editing: EditOptions
) -> Result | None:
    """Make the replicas that the stream should have and has lost; None if anything else is asked for."""
    wanted = flags.values.get("replicas")
    if len(flags.fields) != 1 or not wanted or editing.config_file or editing.interactive:
        return None
    info = await streams.fetch_info(api, name)
    configured, existing = count_replicas(info)
    if configured != wanted or existing >= wanted:
        return None
    missing = f"{existing} of {pluralize(wanted, 'replica')}"
    intent = Intent(f"make the replicas of Stream {name} again, which has {missing}", {"stream": name})
    if editing.dry_run:
        return intent.result()._replace(status=ExitStatus.DIFFERENT)
    await _require_servers(api, info, wanted - existing)
    await env.confirm(intent, force=editing.force)
    info = await make_again(api, info)
    return Result(
        [Text(f"Stream {name} had {missing}; the others are made now"), *view.info_page(info).parts],
        data=info,
    )


async def _require_servers(api: Api, info: Json, count: int) -> None:
    """Raise JsctlError unless so many servers can hold further replicas; do nothing if servers may not be
    asked."""
    try:
        replies = await ping_account(api.connection, "STATZ", {"include_unused": True})
    except JsctlError:
        return
    free = list_free_servers(info, [reply["server"] for reply in replies])
    if len(free) < count:
        name, cluster = info["config"]["name"], info["cluster"].get("name")
        raise JsctlError(
            f"{pluralize(count, 'server')} of cluster {cluster} must be there for the replicas of {name}, and"
            f" {format_count(len(free)) if free else 'none'} is free",
            "nothing was changed; start a server that can hold a replica (one that was removed needs a new"
            " name)",
        )
