"""`jsctl auth account exports`."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from jsctl.auth.changes import change_account
from jsctl.auth.records import Json, remove_member
from jsctl.auth.sharing import (
    RESPONSE_TYPES,
    SERVICE,
    STREAM,
    add_export,
    change_export,
    check_subject,
    find_export,
    list_importers,
)
from jsctl.commands.cli import argument, command, declare_all, destructive, option
from jsctl.commands.picking.auth import of_account, pick_export, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import sharing as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report

_flag = partial(option, into="export")

_export_flags = declare_all(
    _flag("--description", metavar="TEXT", help="Description of the export"),
    _flag("--url", metavar="URL", help="Where to read more about the export"),
    _flag(
        "--token-position",
        metavar="N",
        type=click.IntRange(min=0),
        help="Position of the token that is the importing account's public key; 0 for none",
    ),
    _flag("--advertise/--no-advertise", default=None, help="Advertise the export"),
    _flag("--private/--public", default=None, help="Let only accounts with an activation token import it"),
    _flag(
        "--response-type",
        type=click.Choice(list(RESPONSE_TYPES), case_sensitive=False),
        help="How a service replies: once, many times, or in chunks",
    ),
    _flag("--response-threshold", metavar="DURATION", help="How long a service may take for its reply"),
    _flag("--latency", metavar="SUBJECT", help="Publish measured latencies of the service; empty for none"),
    _flag("--sampling", metavar="PERCENT", help="Requests that are measured (100), or: header"),
    _flag("--allow-trace/--no-allow-trace", default=None, help="Let traces go through the service"),
)
"""Adds the flags of an export; the values of those that were given arrive as `export`."""


@command(
    "add",
    examples=[
        "jsctl auth account exports add orders 'orders.>' ORDERS",
        "jsctl auth account exports add prices prices.get ORDERS --service --latency latency.prices",
    ],
)
@argument("name")
@argument("subject")
@of_account
@option("--service", is_flag=True, help="Export a service, which answers requests, instead of a stream")
@_export_flags
async def add(
    env: Env, name: str, subject: str, account: str, operator: str, service: bool, export: Mapping[str, Any]
) -> Result:
    """Let other accounts import the subject with jsctl auth account imports add."""
    store, owner = await pick_operator_account(env, operator, account)
    kind = SERVICE if service else STREAM
    added: dict[str, Any] = {"name": name, "subject": check_subject(subject), "type": kind}
    change_export(added, export)
    change_account(store, owner.name, lambda nats: add_export(nats, added, owner.name))
    return view.export_page(added, store, owner)


@command("info", examples=["jsctl auth account exports info 'orders.>' ORDERS"])
@argument("subject", default="")
@of_account
async def info(env: Env, subject: str, account: str, operator: str) -> Result:
    """Also show which accounts of the operator import it."""
    store, owner = await pick_operator_account(env, operator, account)
    return view.export_page(await pick_export(env, owner, subject), store, owner)


@command("edit", examples=["jsctl auth account exports edit 'orders.>' ORDERS --private"])
@argument("subject")
@of_account
@_export_flags
async def edit(env: Env, subject: str, account: str, operator: str, export: Mapping[str, Any]) -> Result:
    """Change what the flags name; other settings stay as they are."""
    if not export:
        raise BadInput("there is nothing to change", "use flags for what to set")
    store, owner = await pick_operator_account(env, operator, account)
    await pick_export(env, owner, subject)

    def change(nats: Json) -> None:
        change_export(find_export(nats, subject, owner.name), export)

    owner = change_account(store, owner.name, change)
    return view.export_page(find_export(owner.nats, subject, owner.name), store, owner)


@command("ls", columns=view.EXPORT_COLUMNS, examples=["jsctl auth account exports ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    return view.exports(owner, store)


@command("rm", examples=["jsctl auth account exports rm 'orders.>' ORDERS --force"])
@argument("subject")
@of_account
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, subject: str, account: str, operator: str, force: bool) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    export = await pick_export(env, owner, subject)
    if importing := list_importers(store, owner, export):
        env.say(f"jsctl: {', '.join(importing)} import it")
    data = {"account": owner.name, "removed": subject, "importers": importing}
    await env.confirm(Intent(f"remove the export {subject} of {owner.name}", data), force=force)

    def change(nats: Json) -> None:
        remove_member(nats, "exports", find_export(nats, subject, owner.name))

    change_account(store, owner.name, change)
    return report(f"The export {subject} was removed from {owner.name}", data)
