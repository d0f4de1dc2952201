"""`jsctl schedule rm`."""

import os

from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.schedule.shared import open_scheduling
from jsctl.env import Env
from jsctl.errors import ApiError, BadInput, JsctlError
from jsctl.jetstream.api import is_conflict
from jsctl.jetstream.message.schedules import fetch_schedule, replace_by
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import validate_subject
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


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
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, stream: str, subject: str, publish: str, body: str, force: bool) -> Result:
    """Remove the schedule that is there now, and no other that replaces it meanwhile. With --publish the
    stream stores a message and removes the schedule in one step, or does neither.
    """
    if body and not publish:
        raise BadInput("--body is for --publish")
    target = validate_subject(publish) if publish else ""
    api, config = await open_scheduling(env, stream)
    name = str(config["name"])
    try:
        schedule = await fetch_schedule(api, name, subject)
    except JsctlError as error:
        env.excuse(error)
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
