"""`jsctl auth operator config`."""

from dataclasses import dataclass

import click

from jsctl.auth.claims import as_object, as_texts
from jsctl.auth.resolver import CACHE, FULL, MEMORY, build_server_config, format_config
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.base.files import PRIVATE, open_output
from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import operator_argument, pick_operator, pick_user, pick_user_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Result, Text


@dataclass(frozen=True, slots=True)
class Options:
    name: str
    resolver: str
    dir: str
    allow_delete: bool
    interval: str
    limit: int
    sentinel: str
    output: str


@command(
    "config",
    examples=[
        "jsctl auth operator config ACME --output resolver.conf",
        "jsctl auth operator config ACME --resolver memory",
    ],
)
@operator_argument()
@option(
    "--resolver",
    type=click.Choice([FULL, CACHE, MEMORY]),
    default=FULL,
    help="Where servers keep accounts: all (full) or some (cache) in a folder, or all in memory",
)
@option("--dir", metavar="DIR", default="./jwt", help="Folder in which each server keeps accounts (./jwt)")
@option(
    "--allow-delete/--no-allow-delete", default=True, help="Let push --prune remove accounts (by default)"
)
@option("--interval", metavar="DURATION", default="2m", help="How often servers exchange accounts (2m)")
@option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=1000,
    help="Maximum number of accounts in the folder (1000)",
)
@option(
    "--sentinel",
    metavar="USER",
    default="",
    help="User (ACCOUNT/USER) that clients without a JWT log in as, for an account with an auth callout",
)
@option("--output", metavar="FILE", default="", help="Write the configuration to a file")
async def config(env: Env, options: Options) -> Result:
    """Print the operator, the system account and the resolver, to `include` in nats-server's configuration.

    A memory resolver contains all accounts; jsctl auth account push sends them to a full one.
    """
    store = await pick_operator(env, options.name, flag="NAME")
    resolver_options: dict[str, object] = {"ttl": "1h"}
    if options.resolver == FULL:
        resolver_options = {"allow_delete": options.allow_delete, "interval": options.interval}
    resolver_options["limit"] = options.limit
    document = build_server_config(store, options.resolver, options.dir, resolver_options)
    if options.sentinel:
        document["default_sentinel"] = await _find_sentinel(env, store, options.sentinel)
    names = {account.public: account.name for account in store.read_accounts()}
    text = format_config(document, names)
    if options.output:
        with open_output(options.output, mode=PRIVATE) as file:
            file.write((text + "\n").encode())
    return Result([] if options.output else [Text(text, whole=True)], data=document)


async def _find_sentinel(env: Env, store: AuthStore, sentinel: str) -> str:
    """Return the JWT of a sentinel. Raises NotFound, and BadInput for a user that cannot be one."""
    account_name, _, name = sentinel.rpartition("/")
    account = await pick_user_account(env, store, name, account_name)
    user = await pick_user(env, store, account, name)
    if not user.nats.get("bearer_token"):
        raise BadInput(
            f"user {user.name} must sign with a key, which clients that use a sentinel do not have",
            f"change that with {build_line('auth user edit', user.name, account.name, flags=['--bearer'])}",
        )
    if not as_texts(as_object(account.nats.get("authorization")).get("auth_users")):
        flags = ["--auth-user", "USER", "--allow", "ACCOUNT"]
        raise BadInput(
            f"account {account.name} has no auth callout, so anybody could log in as {user.name}",
            f"add one with {build_line('auth account callout', account.name, flags=flags)}",
        )
    return user.token
