"""`jsctl bench pub`."""

from jsctl.commands.bench.flags import SendingFlags, add_shared, parse_shared, sending_flags
from jsctl.commands.bench.running import make_plan, run
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.nats.subjects import validate_subject
from jsctl.views.result import Result


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
async def pub(env: Env, subject: str, sending: SendingFlags) -> Result:
    """Measure how fast the server accepts messages, which are not acknowledged. Without --rate, many are sent
    at once.
    """
    flags = parse_shared(env, "pub")
    validate_subject(subject, "publish to")
    plan = make_plan(
        "pub",
        flags,
        subject=subject,
        subjects=sending.subjects,
        random=sending.multisubjectrandomize,
        payload=sending.payload(flags.size),
        header_block=sending.header_block(),
    )
    return await run(env, plan, flags)


add_shared(pub)
