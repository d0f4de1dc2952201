"""`jsctl auth info`."""

from jsctl.auth.inspection import inspect
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.views.auth import inspected as view
from jsctl.views.result import Result


@command(
    "info",
    columns=view.COLUMNS,
    examples=[
        "jsctl auth info alice.creds",
        "jsctl auth info ACME.jwt ORDERS.jwt alice.creds --json",
        "jsctl auth info ~/.local/share/nats/nsc",
    ],
)
@argument("file", nargs=-1, required=True, metavar="FILE...")
def info(env: Env, file: tuple[str, ...]) -> Result:
    """Read credentials, JWTs, seeds and public keys, and the folders of resolvers and of nsc; - is stdin. No
    store and no server is needed. A user is checked against its account, and an account against its operator,
    if these are among the files. Seeds are never shown. The exit status is 1 if something is wrong.
    """
    return view.result(inspect(file, env.streams.stdin, env.clock()))
