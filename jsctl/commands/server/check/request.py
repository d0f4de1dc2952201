"""`jsctl server check request`."""

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import check_request
from jsctl.nats.headers import parse_header_text
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
    thresholds: Thresholds,
) -> Result:
    sent = [parse_header_text(text, "NAME:VALUE") for text in headers]
    expected = [parse_header_text(text, "NAME:REGEX") for text in match_headers]

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
