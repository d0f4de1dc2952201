"""`jsctl schedule` and its commands."""

import os
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice

import click

from jsctl.base.command_lines import build_line
from jsctl.base.units import format_rfc3339, seconds_to_ns
from jsctl.commands.cli import DURATION, argument, command, destructive, dry_run_flag, option
from jsctl.commands.options.body import read_value
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import ApiError, BadInput, JsctlError
from jsctl.jetstream.api import Api, Json, is_conflict
from jsctl.jetstream.message.cron import find_zone, list_runs
from jsctl.jetstream.message.schedule import Schedule, describe_raised
from jsctl.jetstream.message.schedules import (
    fetch_schedule,
    list_schedules,
    publish,
    replace_by,
    require_another,
    require_schedules,
)
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.nats.headers import parse_header_text
from jsctl.nats.subjects import validate_subject
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report
from jsctl.views.schedule import schedules as view

zone_flag = option("--zone", metavar="ZONE", default="", help="Show times in this zone: Europe/Amsterdam")


def parse_zone(name: str) -> tzinfo | None:
    """Return the zone of --zone; None for the local one. Raises BadInput."""
    return find_zone(name) if name else None


async def open_scheduling(env: Env, stream: str) -> tuple[Api, Json]:
    """Return the JetStream API and the info of a stream. Raises BadInput if it does not allow schedules."""
    api, name = await open_stream(env, stream)
    require_schedules((info := await streams.fetch_info(api, name))["config"])
    return api, info


def get_now(env: Env) -> int:
    """Return the time in ns since 1970."""
    return seconds_to_ns(env.clock())


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
    api, stream = await open_scheduling(env, options.stream)
    refuse_denied([stream])
    name = str(stream["config"]["name"])
    for flag, other in (("--dest", options.dest), ("--source", options.source)):
        require_another(stream["config"], subject, flag, other)
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
    for said in describe_raised(stream["config"], 0, options.ttl or 0):
        env.say(f"warning: {said}")
    return view.info(name, await fetch_schedule(api, name, subject), now, place)


@command(
    "ls",
    columns=view.COLUMNS,
    examples=["jsctl schedule ls JOBS", "jsctl schedule ls JOBS 'jobs.plan.>' --zone Europe/Amsterdam"],
)
@argument("stream", default="")
@argument("subject", default="", completes="subject")
@zone_flag
async def ls(env: Env, stream: str, subject: str, zone: str) -> Result:
    """Show the schedules on all subjects, or on those that match SUBJECT: when the stream publishes each next
    and, if its message is the last on the target, when it last did.
    """
    place = parse_zone(zone)
    api, opened = await open_scheduling(env, stream)
    schedules = await list_schedules(api, opened["config"], subject)
    return view.listing(str(opened["config"]["name"]), schedules, get_now(env), place)


@command("info", examples=["jsctl schedule info JOBS jobs.plan.report"])
@argument("stream")
@argument("subject", completes="subject")
@zone_flag
async def info(env: Env, stream: str, subject: str, zone: str) -> Result:
    place = parse_zone(zone)
    api, opened = await open_scheduling(env, stream)
    name = str(opened["config"]["name"])
    return view.info(name, await fetch_schedule(api, name, subject), get_now(env), place)


@command(
    "next",
    columns=view.RUNS,
    examples=[
        "jsctl schedule next JOBS jobs.plan.report",
        "jsctl schedule next JOBS jobs.plan.report --count 20 --zone Asia/Tokyo",
    ],
)
@argument("stream")
@argument("subject", completes="subject")
@option("--count", type=click.IntRange(1, 1000), default=5, metavar="N", help="Number of runs (5)")
@zone_flag
async def next(env: Env, stream: str, subject: str, count: int, zone: str) -> Result:
    """Start from the run that the server has noted, if the schedule has written a message, else from the time
    at which it was stored. After an outage servers run a schedule once, and skip the runs that they missed.
    """
    place = parse_zone(zone)
    api, opened = await open_scheduling(env, stream)
    name = str(opened["config"]["name"])
    return view.next_runs(await fetch_schedule(api, name, subject), get_now(env), count, place)


@command(
    "rm",
    examples=[
        "jsctl schedule rm JOBS jobs.plan.report",
        "jsctl schedule rm JOBS jobs.plan.7 --publish jobs.paid --body 'order 7' --force",
    ],
)
@argument("stream")
@argument("subject", completes="subject")
@option("--publish", metavar="SUBJECT", default="", help="Store a message on SUBJECT in the same step")
@option("--body", metavar="TEXT", default="", help="The payload of this message")
@unprotect_flag
@destructive("Remove without asking", missing_ok=True)
async def rm(
    env: Env,
    stream: str,
    subject: str,
    publish: str,
    body: str,
    unprotect: tuple[str, ...],
    force: bool,
) -> Result:
    """Remove the schedule that is there now, and no other that replaces it meanwhile. With --publish the
    stream stores a message and removes the schedule in one step, or does neither.
    """
    if body and not publish:
        raise BadInput("--body is for --publish")
    target = validate_subject(publish) if publish else ""
    api, opened = await open_scheduling(env, stream)
    refuse_protected([opened], unprotect)
    refuse_denied([opened], "" if publish else "deny_delete")
    name = str(opened["config"]["name"])
    try:
        schedule = await fetch_schedule(api, name, subject)
    except JsctlError as error:
        env.report_missing(error)
        return report(
            "Nothing was removed", {"stream": name, "subject": subject, "removed": None, "stored": None}
        )
    facts = {"stream": name, "subject": subject, "sequence": schedule.sequence, "schedule": schedule.pattern}
    intent = Intent(f"remove schedule {subject} ({schedule.pattern}) of stream {name}", facts)
    await env.confirm(intent, force=force)
    stored = None
    try:
        if target:
            stored = await replace_by(api, name, schedule, target, os.fsencode(body))
        else:
            await streams.delete_message(api, name, schedule.sequence)
    except ApiError as error:
        if not is_conflict(error) and error.code != 404:
            raise
        raise JsctlError(f"schedule {subject} ran or was changed meanwhile", "nothing was removed") from None
    return report(
        f"Schedule {subject} of stream {name} was removed",
        {"stream": name, "subject": subject, "removed": schedule.sequence, "stored": stored},
    )
