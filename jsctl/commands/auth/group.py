"""Flags of `jsctl auth` and of all its commands."""

from jsctl.commands.cli import GroupOption, command
from jsctl.env import Env


@command("auth", examples=["jsctl auth operator add ACME", "jsctl auth account add ORDERS --jetstream"])
def auth(env: Env) -> None: ...


auth.params.append(
    GroupOption(
        "--store", "auth_store", metavar="DIR", help="Folder of the store (that of nsc and nats auth)"
    )
)
