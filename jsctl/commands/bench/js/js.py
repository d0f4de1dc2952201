"""Flags of `jsctl bench js` and of all its commands."""

from jsctl.bench.plan import STREAM
from jsctl.commands.bench.flags import add_shared, shared_flag
from jsctl.commands.cli import command
from jsctl.env import Env


@command("js", examples=["jsctl bench js pub async events --create", "jsctl bench js consume --clients 2"])
def js(env: Env) -> None: ...


add_shared(js, shared_flag("--stream", metavar="STREAM", help=f"The stream to use or create ({STREAM})"))
