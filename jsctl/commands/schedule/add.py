"""`jsctl schedule add`."""

from dataclasses import dataclass
from itertools import islice

from jsctl.base.command_lines import build_line
from jsctl.base.units import format_rfc3339
from jsctl.commands.cli import DURATION, argument, command, dry_run_flag, option
from jsctl.commands.options.body import read_value
from jsctl.commands.schedule.shared import get_now, open_scheduling, parse_zone, zone_flag
from jsctl.env import Env
from jsctl.errors import ApiError, BadInput, JsctlError
from jsctl.jetstream.api import is_conflict
from jsctl.jetstream.message.cron import list_runs
from jsctl.jetstream.message.schedule import Schedule
from jsctl.jetstream.message.schedules import fetch_schedule, publish
from jsctl.nats.headers import parse_header_text
from jsctl.nats.subjects import validate_subject
from jsctl.views.intent import Intent
from jsctl.views.result import Result
from jsctl.views.schedule import schedules as view


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. after, every, ttl: ns."""

    stream: str
    subject: str
    body: str | None
    at: str | None
    after: int | None
    every: int | None
    cron: str | None
    dest: str | None
    source: str | None
    ttl: int | None
    zone: str
    headers: tuple[str, ...]
    replace: bool

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.after, self.at, self.every, self.cron, self.dest, self.source, self.ttl)

    @property
    def cron_zone(self) -> str:
        """The zone of cron's fields; empty for UTC."""
        return self.zone if self.cron is not None else ""


@command(
    "add",
    examples=[
        "jsctl schedule add JOBS jobs.plan.report '{}' --cron '0 30 8 * * mon-fri' --dest jobs.report",
        "jsctl schedule add JOBS jobs.plan.7 'order 7' --after 15m --dest jobs.remind",
        "jsctl schedule add JOBS jobs.plan.sample '' --every 5m --source sensor.t --dest jobs.sample",
    ],
)
@argument("stream")
@argument("subject", completes="subject")
@argument("body", required=False)
@option("--at", metavar="TIME", help="Publish it once, at an RFC 3339 time")
@option("--after", type=DURATION, metavar="DURATION", help="Publish it once, this much later")
@option("--every", type=DURATION, metavar="DURATION", help="Publish it repeatedly, at this interval")
@option("--cron", metavar="CRON", help="Publish it by six fields of cron: '0 30 8 * * *'")
@option("--dest", metavar="SUBJECT", help="Where it is published: a subject of the same stream")
@option("--source", metavar="SUBJECT", help="Publish the last message on this subject instead of the body")
@option("--ttl", type=DURATION, metavar="DURATION", help="TTL of the messages that it publishes")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; may be repeated")
@option("--replace", is_flag=True, help="Replace the schedule on this subject")
@zone_flag
@dry_run_flag()
async def add(env: Env, options: Options) -> Result:
    """Store BODY or, without it or with -, stdin, on SUBJECT, from where the stream publishes it to --dest. A
    subject holds one schedule. --zone is that of --cron, which is UTC otherwise.
    """
    place = parse_zone(options.zone)
    subject = validate_subject(options.subject)
    headers = options.schedule.build_headers(env.clock(), prefix="--")
    if options.cron_zone:
        headers.append(("Nats-Schedule-Time-Zone", options.cron_zone))
    pattern, now = dict(headers)["Nats-Schedule"], get_now(env)
    runs = list(islice(list_runs(pattern, options.cron_zone, now), 1))
    if not runs:
        raise BadInput(f"{pattern!r} never runs", "use a time in the future")
    body = await read_value(env, options.body)
    api, config = await open_scheduling(env, options.stream)
    name = str(config["name"])
    first = view.format_run(runs[0], place)
    facts = {"stream": name, "subject": subject, "schedule": pattern, "next": format_rfc3339(runs[0])}
    env.announce(Intent(f"store schedule {subject} in stream {name}, which first runs at {first}", facts))
    if not options.replace:
        headers.append(("Nats-Expected-Last-Subject-Sequence", "0"))
    try:
        await publish(api, name, subject, body, [*map(parse_header_text, options.headers), *headers])
    except ApiError as error:
        if not is_conflict(error):
            raise
        hint = f"{build_line('schedule info', name, subject)} shows it; --replace replaces it"
        raise JsctlError(f"stream {name} has a message on {subject}", hint) from None
    return view.info(name, await fetch_schedule(api, name, subject), now, place)
