"""`jsctl bench service`: request, serve."""

from jsctl.commands.bench.flags import add_shared, parse_headers, parse_shared, payload_flags, read_payload
from jsctl.commands.bench.running import make_plan, run
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.nats.subjects import validate_subject
from jsctl.views.result import Result


@command("service", examples=["jsctl bench service serve echo", "jsctl bench service request echo"])
def service(env: Env) -> None: ...


add_shared(service)


@command(
    "request",
    examples=[
        "jsctl bench service request echo",
        "jsctl bench service request echo --clients 4 --msgs 20000",
        "jsctl bench service request echo --rate 1000 --plot",
    ],
)
@argument("subject")
@payload_flags
async def request(env: Env, subject: str, payload_file: str, headers: tuple[str, ...]) -> Result:
    """Send the next request of each client after the reply to the last. Any service or `jsctl reply` can
    answer on SUBJECT.
    """
    flags = parse_shared(env, "service request")
    validate_subject(subject, "publish to")
    plan = make_plan(
        "service request",
        flags,
        subject=subject,
        payload=read_payload(payload_file, flags.size),
        header_block=parse_headers(headers),
    )
    return await run(env, plan, flags)


@command(
    "serve",
    examples=["jsctl bench service serve echo", "jsctl bench service serve echo --clients 4 --sleep 50us"],
)
@argument("subject")
async def serve(env: Env, subject: str) -> Result:
    """Share the requests between the clients, until ctrl-C, --duration or --msgs. --sleep is the time that an
    answer takes.
    """
    flags = parse_shared(env, "service serve")
    validate_subject(subject, "subscribe to")
    return await run(env, make_plan("service serve", flags, subject=subject), flags)
