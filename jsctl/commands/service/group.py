"""`jsctl service` and its commands."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import MS, SECOND
from jsctl.commands import request as requests
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.message_flags import MessageFlags, message_flags
from jsctl.commands.options.watch import check_every, fetch_or_watch
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.jetstream.message.respond import Request
from jsctl.nats.connection import Connection
from jsctl.nats.headers import Headers, encode_headers, find_header
from jsctl.services import statistics
from jsctl.services.discovery import SILENCE, find_endpoint, gather, validate_service
from jsctl.services.discovery import ping as ping_services
from jsctl.services.host import EchoService
from jsctl.views.events import End, Events, Presentation
from jsctl.views.message import reply as reply_view
from jsctl.views.message.request import Reply
from jsctl.views.result import Result
from jsctl.views.service import documents as view

silence_flag = option(
    "--silence",
    type=DURATION,
    default=SILENCE,
    metavar="DURATION",
    help="Maximum time between two replies (300ms)",
)


async def pick_service(env: Env, name: str) -> str:
    """Pick a service; see `pick`."""
    return validate_service(await pick(env, "service", name, api=await env.jetstream()))


@command("list", columns=view.LIST, examples=["jsctl service list weather", "jsctl service list"])
@argument("service", default="")
@silence_flag
async def list_(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    return view.listing(await gather(await env.connection(), "INFO", service, silence=silence, warn=env.say))


@command("ping", columns=view.PINGS, examples=["jsctl service ping weather", "jsctl service ping"])
@argument("service", default="")
@silence_flag
async def ping(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    return view.pings(await ping_services(await env.connection(), service, silence=silence, warn=env.say))


@command(
    "info",
    columns=(),
    examples=["jsctl service info weather", "jsctl service info weather --endpoint 'v2.*' --json"],
)
@argument("service", default="")
@argument("id", default="")
@option("--endpoint", "-e", metavar="REGEX", default="", help="Only endpoints whose name matches")
@silence_flag
async def info(env: Env, service: str, id: str, endpoint: str, silence: int) -> Result:
    """Show all instances, or the one of ID, with their statistics. Schemas in the metadata of endpoints are
    indented. With --json, info and stats are those of the first instance; instances has all.
    """
    pattern = compile_pattern(endpoint, flag="--endpoint")
    name = await pick_service(env, service)
    connection = await env.connection()

    async def ask(verb: str) -> list[dict[str, Any]]:
        return await gather(connection, verb, name, id, silence=silence, warn=env.say)

    async def ask_statistics() -> list[dict[str, Any]]:
        try:
            return await ask("STATS")
        except JsctlError:  # not every service has them
            return []

    infos, statistics = await asyncio.gather(ask("INFO"), ask_statistics())
    return view.info(infos, statistics, pattern)


@command(
    "stats",
    columns=view.STATS,
    examples=[
        "jsctl service stats weather",
        "jsctl service stats --watch",
        "jsctl service stats weather --watch",
    ],
)
@argument("service", default="")
@argument("id", default="")
@option("--watch", is_flag=True, help="Show rates, errors and skew over the instances, repeatedly")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="Time between two samples (1s)")
@silence_flag
async def stats(
    env: Env, service: str, id: str, watch: bool, every: int, silence: int
) -> Result | Events[Result]:
    """Show a line per endpoint with --watch, over all instances; without SERVICE, for all services. Skew
    compares the busiest instance with an even share: 1 is even, 2 is twice that.
    """
    check_every(every)
    connection = await env.connection()
    if not watch:
        name = await pick_service(env, service)
        documents = await gather(connection, "STATS", name, id, silence=silence, warn=env.say)
        return view.stats(name, documents)
    if service:
        validate_service(service)
    return await fetch_or_watch(_RateSampler(env, connection, service, id, silence), every)


class _RateSampler:
    """The rates since the previous call."""

    def __init__(self, env: Env, connection: Connection, service: str, id: str, silence: int) -> None:
        self._ask = partial(gather, connection, "STATS", service, id, silence=silence, warn=env.say)
        self._previous_counts: dict[statistics.Key, statistics.Count] = {}
        self._sampled_at = 0

    async def __call__(self) -> Result:
        documents = await self._ask()
        now = time.monotonic_ns()
        counts = statistics.read_counts(documents)
        seconds = (now - self._sampled_at) / SECOND if self._sampled_at else 0.0
        result = view.rates(statistics.compute_rows(counts, self._previous_counts, seconds))
        self._previous_counts, self._sampled_at = counts, now
        return result


@command("serve", examples=["jsctl service serve demo", "jsctl service serve demo -H 'Region: eu'"])
@argument("name", metavar="NAME", label="Name of the service")
@option(
    "--header", "-H", "headers", metavar="K:V", multiple=True, help="Header of the answers; may be repeated"
)
async def serve(env: Env, name: str, headers: tuple[str, ...]) -> Events[Request]:
    """Offer one endpoint, echo, on the subject NAME.echo, until ctrl-C. Several services of the same name
    share the requests.
    """
    pairs: Headers = []
    for text in headers:
        key, sign, value = text.partition(":") if ":" in text else text.partition("=")
        if not sign or not key.strip():
            raise BadInput(f"{text!r} is not a valid header", "use K:V")
        pairs.append((key.strip(), value.strip()))
    encode_headers(pairs)
    connection = await env.connection()
    service = EchoService(connection, name, pairs)
    env.say(f"Service {name} ({service.id}) waits for requests on {service.subject}, process {os.getpid()}")
    return Events(
        batches=service.answer_requests(),
        shown=Presentation(text=reply_view.text, record=reply_view.record, notice=reply_view.notice),
        end=End(noun="request", endless=True, stop=service.stop),
        answers=True,
    )


@command(
    "request",
    examples=[
        "jsctl service request weather forecast London",
        'jsctl service request weather forecast \'{"city": "London"}\' --raw',
    ],
)
@argument("service")
@argument("endpoint", metavar="ENDPOINT")
@argument("body", metavar="[PAYLOAD]", required=False)
@message_flags("Send N requests")
@option("--raw", "-r", is_flag=True, help="Show only payloads, one per line")
@option("--translate", metavar="COMMAND", default="", help="Show each payload as this command translates it")
async def request(
    env: Env, service: str, endpoint: str, raw: bool, translate: str, message: MessageFlags
) -> Events[Reply]:
    """Send PAYLOAD or, without it, stdin, as `jsctl publish --help` describes. If the service replies with an
    error, the exit status is 1.
    """
    name = await pick_service(env, service)
    infos = await gather(await env.connection(), "INFO", name, warn=env.say)
    subject = str(find_endpoint(infos[0], endpoint).get("subject") or "")
    if any(token in ("*", ">") for token in subject.split(".")):
        raise BadInput(
            f"endpoint {endpoint} answers on {subject}",
            "use jsctl request with one of these subjects",
        )
    replies = requests.ask(
        env,
        requests.Options(
            subject=subject,
            raw=raw,
            raw_bytes=False,
            replies=1,
            gap=300 * MS,
            to_empty=False,
            translate=translate,
            message=message,
        ),
    )
    reporter = _ErrorReporter(env, replies.batches)
    return replies._replace(batches=reporter.run(), result=lambda: reporter.status)


class _ErrorReporter:
    """A filter that passes replies on, and reports errors of the service. status: FAILURE once
    there is one.
    """

    def __init__(self, env: Env, batches: AsyncIterator[Sequence[Reply]]) -> None:
        self._env = env
        self._batches = batches
        self.status = ExitStatus.OK

    async def run(self) -> AsyncIterator[Sequence[Reply]]:
        async for batch in self._batches:
            yield batch
            for reply in batch:
                block = reply.message.header_block
                if error := find_header(block, "Nats-Service-Error"):
                    self.status = ExitStatus.FAILURE
                    code = find_header(block, "Nats-Service-Error-Code")
                    self._env.say(f"jsctl: the service answered with an error: {error} ({code})")
