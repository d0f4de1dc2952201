"""`jsctl compat`."""

import click

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import BadInput


@command(
    "compat",
    examples=[
        "jsctl compat -- kv put CONFIG user.1 Ann",
        "jsctl compat -- stream edit ORDERS --max-msgs 10 -f",
    ],
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND [ARG]...")
def compat(env: Env, words: tuple[str, ...]) -> int:
    """Take the side of nats where jsctl differs from it on purpose: in the status, in the output, and in what
    is refused. jsctl does the same when it is called as nats, by a link of that name.

    jsctl manual scripts lists the differences; jsctl lint finds lines that have them.
    """
    if env.run_line is None or env.session:
        raise BadInput("a shell of jsctl has no lines of nats")
    child = Env(env.streams, env.environ)
    child.flags |= env.flags
    child.from_environment = {*env.from_environment}
    child.begin = env.begin
    child.mirrors_nats = True
    child.is_embedded = env.is_embedded
    child.runner = env.runner
    return env.run_line(words, child)
