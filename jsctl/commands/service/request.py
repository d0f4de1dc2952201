"""`jsctl service request`."""

from collections.abc import AsyncIterator, Sequence

from jsctl.base.units import MS
from jsctl.commands import request as requests
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.message_flags import MessageFlags, message_flags
from jsctl.commands.service.group import pick_service
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.nats.headers import find_header
from jsctl.services.discovery import find_endpoint, gather
from jsctl.views.events import Events
from jsctl.views.message.request import Reply


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
