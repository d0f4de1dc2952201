"""`jsctl bench pub`."""

from dataclasses import dataclass

from jsctl.commands.bench.flags import SendingFlags, add_shared, parse_shared, sending_flags
from jsctl.commands.bench.running import make_plan, run
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.nats.subjects import validate_subject
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    subject: str
    sending: SendingFlags


@command(
    "pub",
    examples=[
        "jsctl bench pub events",
        "jsctl bench pub events --clients 4 --size 1KB --msgs 1000000",
        "jsctl bench pub events --rate 5000 --duration 30s --plot",
    ],
)
@argument("subject")
@sending_flags
async def pub(env: Env, options: Options) -> Result:
    """Measure how fast the server accepts messages, which are not acknowledged. Without --rate, many are sent
    at once.
    """
    flags = parse_shared(env, "pub")
    validate_subject(options.subject, "publish to")
    plan = make_plan(
        "pub",
        flags,
        subject=options.subject,
        subjects=options.sending.subjects,
        random=options.sending.multisubjectrandomize,
        payload=options.sending.payload(flags.size),
        header_block=options.sending.header_block(),
    )
    return await run(env, plan, flags)


add_shared(pub)
