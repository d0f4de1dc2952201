"""`jsctl bench sub`."""

from jsctl.commands.bench.flags import add_shared, parse_shared
from jsctl.commands.bench.running import make_plan, run
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.nats.subjects import validate_subject
from jsctl.views.result import Result


@command("sub", examples=["jsctl bench sub events", "jsctl bench sub events --clients 4 --msgs 1000000"])
@argument("subject")
@option("--multisubject", is_flag=True, help="Subscribe to SUBJECT.*, as bench pub --multisubject publishes")
async def sub(env: Env, subject: str, multisubject: bool) -> Result:
    """Receive all messages in each client. The measurement starts with the first message; it ends when all
    messages have arrived, or when none has arrived for the time of --timeout. --size has no effect.
    """
    flags = parse_shared(env, "sub")
    validate_subject(subject, "subscribe to")
    plan = make_plan("sub", flags, subject=subject, subjects=0 if multisubject else -1)
    return await run(env, plan, flags)


add_shared(sub, sleep=False)
