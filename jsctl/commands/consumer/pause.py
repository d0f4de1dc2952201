"""`jsctl consumer pause` and `jsctl consumer resume`."""

from jsctl.base.units import HOUR, SECOND, format_duration, format_server_time
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import parse_deadline
from jsctl.views.consumer.intent import change_intent
from jsctl.views.result import Result, Text


@command(
    "pause",
    examples=[
        "jsctl consumer pause ORDERS NEW 1h",
        'jsctl consumer pause ORDERS NEW "2026-12-24 18:00:00" -f',
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@argument("until", default="")
@destructive("Pause without asking")
async def pause(env: Env, stream: str, consumer: str, until: str, force: bool) -> Result:
    if until:
        _parse_until(until, env.clock())
    api, stream, consumer = await open_consumer(env, stream, consumer)
    info = await consumers.fetch_info(api, stream, consumer)  # NotFound before the question
    until = until or await env.prompter.text(
        "Pause until (time or duration)",
        flag="UNTIL",
        default=format_duration(HOUR),
        check=lambda text: parse_deadline(text, env.clock()),
    )
    deadline = _parse_until(until, env.clock())
    until_text = f" until {format_server_time(deadline)}"
    await env.confirm(change_intent("pause", info, until_text, pause_until=deadline), force=force)
    response = await consumers.pause(api, stream, consumer, deadline)
    if not response.get("paused"):
        raise JsctlError(f"consumer {stream} > {consumer} was not paused", "use a time in the future")
    remaining = int(response.get("pause_remaining", 0))
    text = f"Paused {stream} > {consumer} until {format_server_time(response.get('pause_until'))}"
    return Result([Text(f"{text} ({format_duration(round(remaining / SECOND) * SECOND)})")], data=response)


@command("resume", examples=["jsctl consumer resume ORDERS NEW"])
@argument("stream", default="")
@argument("consumer", default="")
@destructive("Resume without asking")
async def resume(env: Env, stream: str, consumer: str, force: bool) -> Result:
    api, stream, consumer = await open_consumer(env, stream, consumer)
    info = await consumers.fetch_info(api, stream, consumer)
    if not info.get("paused"):
        raise JsctlError(f"consumer {stream} > {consumer} is not paused")
    await env.confirm(change_intent("resume", info), force=force)
    response = await consumers.resume(api, stream, consumer)
    paused_until = format_server_time(info["config"].get("pause_until"))
    text = f"Consumer {stream} > {consumer} was resumed while previously paused until {paused_until}"
    return Result([Text(text)], data=response)


def _parse_until(text: str, now: float) -> str:
    try:
        return parse_deadline(text, now)
    except ValueError as error:
        raise BadInput(str(error)) from None
