"""`jsctl consumer events`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.monitor.event_listener import EventListener, EventSelection, ServerEvent
from jsctl.monitor.events import list_consumer_subjects
from jsctl.views.events import Events
from jsctl.views.message import events as view


@command("events", examples=["jsctl consumer events ORDERS NEW", "jsctl con events ORDERS NEW --json"])
@argument("stream", default="")
@argument("consumer", default="")
@option("--short", is_flag=True, help="Show each event on one line")
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after N events")
@wait_flag
async def events(
    env: Env, stream: str, consumer: str, short: bool, count: int, wait: int
) -> Events[ServerEvent]:
    """Show ack samples, too, of consumers that were created with --sample."""
    api, stream, consumer = await open_consumer(env, stream, consumer)
    await consumers.fetch_info(api, stream, consumer)
    subjects = list_consumer_subjects(api.connection.settings.js_event_prefix, stream, consumer)
    listener = EventListener(
        api.connection,
        EventSelection(subjects=subjects, limit=count, idle=choose_idle_limit(env, wait, count)),
        warn=env.say,
        announce=(lambda text: None) if env.wants_json else env.say,
    )
    return view.events(listener, short=short)
