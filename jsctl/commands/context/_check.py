"""Checks of a context by itself: no flag, variable or other context takes part, but for the time-out."""

from typing import Any

from jsctl.contexts.model import COLOR_SCHEMES, KEYS, Context
from jsctl.contexts.settings import METHODS, from_context, resolve
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.nats import login
from jsctl.nats.connection import Connection
from jsctl.views.context.contexts import Checked

_VARIABLES = (
    "server", "user", "password", "token", "creds", "nkey", "jwt", "seed", "tlscert", "tlskey",
    "tlsca", "timeout", "socks_proxy", "colors",
)  # fmt: skip


async def check(env: Env, context: Context, *, connect: bool) -> Checked:
    """What is wrong with a context, and with `connect` whether a server takes it."""
    problems = _contradictions(context)
    own: dict[str, Any] = {k: env.flags[k] for k in ("timeout", "connection_name") if k in env.flags}
    try:
        settings = resolve(own, context)
        await login.validate(settings)
    except JsctlError as error:
        return Checked(context.name, [*problems, error.message])
    if not connect or problems:
        return Checked(context.name, problems)
    try:
        connection = await Connection.open(settings, reconnect=False)
    except JsctlError as error:
        return Checked(context.name, problems, True, error)
    await connection.close()
    return Checked(context.name, problems, True)


def warn_of_variables(env: Env) -> None:
    """Say which environment variables stand before every context."""
    names = sorted(name.replace("_", "-") for name in _VARIABLES if name in env.from_environment)
    if names:
        env.say(f"jsctl: the environment sets {', '.join(f'--{name}' for name in names)}, before any context")


def _contradictions(context: Context) -> list[str]:
    has = from_context(context)
    problems = []
    ways = [name for name in METHODS if has.get(name) and name != "token"]
    if len(ways) > 1:
        problems.append(f"more than one login: {', '.join(ways)}")
    scheme = has.get("colors")
    if scheme and scheme not in COLOR_SCHEMES:
        problems.append(f"unknown colour scheme {scheme!r}")
    if has.get("seed") and not has.get("jwt"):
        problems.append("user_seed without user_jwt")
    for key in KEYS:
        if key.startswith("windows_") and context.get(key):
            problems.append("the Windows certificate store is not supported; use cert, key and ca")
            break
    return problems
