"""`jsctl server check request`."""

from collections.abc import Mapping
from typing import Any

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import check_request
from jsctl.views.result import Result


@command("request", examples=["jsctl server check request --subject echo --payload hi --match-payload hi"])
@option("--subject", required=True, metavar="SUBJECT", help="Subject of the service")
@option("--payload", metavar="TEXT", default="", help="Body of the request")
@option(
    "--headers", "-H", metavar="NAME:VALUE", multiple=True, help="A header of the request; may be repeated"
)
@option("--match-payload", metavar="REGEX", default="", help="Pattern that the reply must match")
@option(
    "--match-headers",
    metavar="NAME:REGEX",
    multiple=True,
    help="Pattern that a header must match; may be repeated",
)
@threshold("--response-critical", DURATION, "DURATION", "Critical above this time")
@threshold("--response-warn", DURATION, "DURATION", "Warn above this time")
async def request(
    env: Env,
    subject: str,
    payload: str,
    headers: tuple[str, ...],
    match_payload: str,
    match_headers: tuple[str, ...],
    thresholds: Mapping[str, Any],
) -> Result:
    sent, expected = [_pair(header) for header in headers], [_pair(header) for header in match_headers]

    async def check() -> Check:
        return await check_request(
            await env.connection(),
            subject,
            payload.encode(),
            sent,
            merge_thresholds(thresholds),
            match_payload=match_payload,
            match_headers=expected,
        )

    return await run_check(env, "request", subject, check())


def _pair(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise BadInput(f"{text!r} is not a valid header", "use NAME:VALUE")
    return name.strip(), value.strip()
