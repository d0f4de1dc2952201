"""`jsctl auth account mappings`."""

from collections.abc import Mapping, Sequence

import click

from jsctl.auth.changes import change_account
from jsctl.auth.claims import get_weight
from jsctl.auth.mappings import build_target, find_targets, list_mappings, parse_mappings, set_targets
from jsctl.auth.records import Json, Record
from jsctl.base.command_lines import build_line
from jsctl.base.files import read_input
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.auth import (
    account_argument,
    of_account,
    operator_option,
    pick_operator_account,
    pick_text,
)
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.views.intent import Intent
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table, report

_COLUMNS = (
    Column("Source Subject", "source"),
    Column("Target Subject", "subject"),
    Column("Weight", "weight", "count"),
    Column("Cluster", "cluster", optional=True),
)


def _show_list(account: Record) -> Result:
    """Show the mappings of an account."""
    rows = [
        (source, str(target.get("subject", "")), _format_weight(target), str(target.get("cluster") or ""))
        for source, targets in list_mappings(account.nats).items()
        for target in targets
    ]
    table = Table(f"Subject Mappings of {account.name}", _COLUMNS, rows, empty="No mappings")
    return Result([table])


def _show_mappings(account: Record, mappings: Mapping[str, Sequence[Json]]) -> Result:
    """Show some mappings; the document has the keys of `nats`, capitalized, beside those of the claim."""
    sections = []
    for source, targets in mappings.items():
        fields = [
            Field(str(target.get("subject", "")), f"{get_weight(target)}%{_format_cluster(target)}")
            for target in targets
        ]
        sections.append(Section(source, fields))
    data = {source: [_build_record(target) for target in targets] for source, targets in mappings.items()}
    return Result([InfoPage(f"Subject Mappings of Account {account.name}", sections)], data=data)


def _build_record(target: Json) -> Json:
    capitalized = {
        "Subject": target.get("subject", ""),
        "Weight": get_weight(target),
        "Cluster": target.get("cluster") or "",
    }
    return {**target, **capitalized}


def _format_weight(target: Json) -> Cell:
    return Cell(get_weight(target), f"{get_weight(target)}%")


def _format_cluster(target: Json) -> str:
    return f" in cluster {target['cluster']}" if target.get("cluster") else ""


async def _pick_source(env: Env, account: Record, source: str) -> str:
    """Return the source subject on the command line, or one that the user picks. Raises NotFound,
    BadInput.
    """
    if source:
        return source
    sources = list(list_mappings(account.nats))
    if not sources:
        raise NotFound(
            f"account {account.name} has no mappings", f"{build_line('auth account mappings add')} adds one"
        )
    return await pick_text(env, sources, "mapping", "Mapping", "SOURCE")


@command(
    "add",
    examples=[
        "jsctl auth account mappings add ORDERS orders.new orders.v2 20",
        "jsctl auth account mappings add ORDERS --config mappings.yaml",
    ],
)
@account_argument()
@argument("source", default="")
@argument("target", default="")
@argument("weight", default=100, type=click.IntRange(1, 100))
@argument("cluster", default="")
@operator_option()
@option("--config", metavar="FILE", default="", help="JSON or YAML of sources, each with a list of targets")
async def add(
    env: Env, account: str, source: str, target: str, weight: int, cluster: str, operator: str, config: str
) -> Result:
    """Send WEIGHT percent of the messages on SOURCE to TARGET; with CLUSTER, only in that cluster.

    A file has `source: [{subject: target, weight: 20, cluster: east}]`.
    """
    store, owner = await pick_operator_account(env, operator, account)
    if config:
        added = parse_mappings(read_input(config, env.streams.stdin), config)
    else:
        source = source or await env.prompter.text("Source subject", flag="SOURCE")
        target = target or await env.prompter.text("Target subject", flag="TARGET")
        added = {source: [build_target(target, weight, cluster)]}

    def change(nats: Json) -> None:
        for origin, targets in added.items():
            before = [] if config else list_mappings(nats).get(origin, [])
            for new in targets:
                if any(_get_target_identity(other) == _get_target_identity(new) for other in before):
                    raise BadInput(f"{origin} is already mapped to {new['subject']}", "remove it first")
            set_targets(nats, origin, [*before, *targets])

    owner = change_account(store, owner.name, change)
    return _show_mappings(owner, {origin: list_mappings(owner.nats)[origin] for origin in added})


def _get_target_identity(target: Json) -> tuple[str, str]:
    return str(target.get("subject")), str(target.get("cluster") or "")


@command("ls", columns=_COLUMNS, examples=["jsctl auth account mappings ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    _, owner = await pick_operator_account(env, operator, account)
    return _show_list(owner)


@command("rm", examples=["jsctl auth account mappings rm ORDERS orders.new --force"])
@account_argument()
@argument("source", default="")
@operator_option()
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, account: str, source: str, operator: str, force: bool) -> Result:
    """Remove all targets of SOURCE."""
    store, owner = await pick_operator_account(env, operator, account)
    source = await _pick_source(env, owner, source)
    targets = find_targets(owner.nats, source, owner.name)
    data = {"account": owner.name, "removed": source, "targets": targets}
    # nats does not ask here; scripts that were written for it have no --force
    without_asking = force or not env.can_ask
    await env.confirm(Intent(f"remove the mapping of {source} from {owner.name}", data), force=without_asking)

    def change(nats: Json) -> None:
        set_targets(nats, source, [])

    change_account(store, owner.name, change)
    return report(f"The mapping of {source} was removed from {owner.name}", data)


@command("info", examples=["jsctl auth account mappings info ORDERS orders.new"])
@account_argument()
@argument("source", default="")
@operator_option()
async def info(env: Env, account: str, source: str, operator: str) -> Result:
    _, owner = await pick_operator_account(env, operator, account)
    source = await _pick_source(env, owner, source)
    return _show_mappings(owner, {source: find_targets(owner.nats, source, owner.name)})
