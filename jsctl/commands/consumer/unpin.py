"""`jsctl consumer unpin`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.jetstream.api import Api
from jsctl.jetstream.consumer import requests as consumers
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text


@command(
    "unpin", examples=["jsctl consumer unpin ORDERS WORK", "jsctl consumer unpin ORDERS WORK jobs --force"]
)
@argument("stream", default="")
@argument("consumer", default="")
@argument("group", default="")
@destructive("Unpin without asking")
async def unpin(env: Env, stream: str, consumer: str, group: str, force: bool) -> Result:
    api, stream, consumer = await open_consumer(env, stream, consumer)
    return await unpin_client(env, api, stream, consumer, group, force=force)


async def unpin_client(env: Env, api: Api, stream: str, consumer: str, group: str, *, force: bool) -> Result:
    """Unpin the client of a priority group, by default of the only or the picked one, after a question."""
    info = await consumers.fetch_info(api, stream, consumer)
    if info["config"].get("priority_policy") != "pinned_client":
        raise JsctlError(
            f"consumer {stream} > {consumer} does not pin clients", "it has no pinned priority groups"
        )
    pins = {
        str(priority_group["group"]): str(priority_group["pinned_client_id"])
        for priority_group in info.get("priority_groups") or []
        if priority_group.get("pinned_client_id")
    }
    if group and group not in info["config"].get("priority_groups", []):
        raise NotFound(f"consumer {stream} > {consumer} has no priority group {group}")
    if not pins or (group and group not in pins):
        raise JsctlError(f"no client is pinned to {group or 'any group'} of {stream} > {consumer}")
    if not group and len(pins) == 1 and not env.can_ask:
        group = next(iter(pins))
    if not group:
        if not env.can_ask:
            raise BadInput("the group's name is missing", f"specify GROUP, one of {', '.join(sorted(pins))}")
        group = str(await env.prompter.select("Select a Group", sorted(pins), flag="GROUP"))
    facts = {"stream": stream, "consumer": consumer, "group": group, "client": pins[group]}
    await env.confirm(Intent(f"unpin client from group {stream} > {consumer} > {group}", facts), force=force)
    await consumers.unpin(api, stream, consumer, group)
    text = f"Unpinned client {pins[group]} from Priority Group {stream} > {consumer} > {group}"
    return Result([Text(text)], data=facts)
