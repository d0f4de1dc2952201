"""`jsctl consumer events`."""

import re

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.events import Watch
from jsctl.commands.shared.pick import pick_consumer
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.monitor.events import consumer_subjects


@command("events", examples=["jsctl consumer events ORDERS NEW", "jsctl con events ORDERS NEW --json"])
@argument("stream", default="")
@argument("consumer", default="")
@option("--short", is_flag=True, help="One line an event")
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after so many events")
async def events(env: Env, stream: str, consumer: str, short: bool, count: int) -> None:
    """Samples come from consumers that are made with --sample."""
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    await consumers.info(api, stream, consumer)
    subjects = consumer_subjects(api.connection.settings.js_event_prefix, stream, consumer)
    given = {
        "all_": False, "js_metric": False, "js_advisory": False, "servers": False, "subjects": subjects,
        "stream": "", "since": None, "cloudevent": False, "short": short, "count": count,
    }  # fmt: skip
    await Watch(env, given, re.compile("")).run()
