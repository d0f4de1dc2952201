"""`jsctl server passwd`."""

import click

from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Field, InfoPage, Result, Section, Text

_COSTS = (4, 31)  #: of bcrypt; one more doubles the work


def _show_hashed(hash: str, password: str) -> Result:
    """Show a bcrypt hash. password: the generated one, to show it; empty when the user chose it."""
    if not password:
        return Result([Text(hash, whole=True)], data={"hash": hash})
    fields = [Field("Password", password), Field("bcrypt Hash", hash)]
    return Result(
        [InfoPage("Generated Password", [Section("", fields)])], data={"password": password, "hash": hash}
    )


@command(
    "passwd",
    examples=[
        "jsctl server passwd",
        "jsctl server passwd --generate",
        "jsctl server passwd --cost 12 < password.txt",
    ],
)
@option(
    "--pass",
    "-p",
    "password",
    metavar="PASSWORD",
    help="Password; also taken from the variable PASSWORD",
)
@option("--cost", "-c", type=click.IntRange(*_COSTS), default=11, help="bcrypt cost, 4 to 31 (11)")
@option("--generate", "-g", is_flag=True, help="Generate a password, and show it")
async def passwd(env: Env, password: str | None, cost: int, generate: bool) -> Result:
    """Ask for the password; without a terminal, read it from a line of standard input. Other users of this
    machine can see what is on a command line.
    """
    from jsctl.auth.passwords import generate_password, hash_password

    if generate and password:
        raise BadInput("--pass and --generate cannot be used together")
    if generate:
        password = generate_password()
        return _show_hashed(hash_password(password, cost), password)
    password = password or env.environ.get("PASSWORD") or await _read_password(env)
    return _show_hashed(hash_password(password, cost), "")


async def _read_password(env: Env) -> str:
    """Ask for the password twice; without a terminal, read it from standard input."""
    from jsctl.auth.passwords import check_password

    if not env.can_ask:
        if password := env.streams.stdin.readline().rstrip("\r\n"):
            return password
        raise BadInput("there is no password", "write it to standard input, or use --generate")
    password = await env.prompter.secret("Password", flag="--pass")
    check_password(password)
    if await env.prompter.secret("Password again", flag="--pass") != password:
        raise BadInput("the two passwords differ")
    return password
