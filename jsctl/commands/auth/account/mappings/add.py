"""`jsctl auth account mappings add`."""

from dataclasses import dataclass

import click

from jsctl.auth.changes import change_account
from jsctl.auth.mappings import build_target, list_mappings, parse_mappings, set_targets
from jsctl.auth.records import Json
from jsctl.base.files import read_input
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.auth import account_argument, operator_option, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import mappings as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    account: str
    source: str
    target: str
    weight: int
    cluster: str
    operator: str
    config: str


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
async def add(env: Env, options: Options) -> Result:
    """Send WEIGHT percent of the messages on SOURCE to TARGET; with CLUSTER, only in that cluster.

    A file has `source: [{subject: target, weight: 20, cluster: east}]`.
    """
    store, account = await pick_operator_account(env, options.operator, options.account)
    if options.config:
        added = parse_mappings(read_input(options.config, env.streams.stdin), options.config)
    else:
        source = options.source or await env.prompter.text("Source subject", flag="SOURCE")
        target = options.target or await env.prompter.text("Target subject", flag="TARGET")
        added = {source: [build_target(target, options.weight, options.cluster)]}

    def change(nats: Json) -> None:
        for source, targets in added.items():
            before = [] if options.config else list_mappings(nats).get(source, [])
            for target in targets:
                if any(_get_target_identity(other) == _get_target_identity(target) for other in before):
                    raise BadInput(f"{source} is already mapped to {target['subject']}", "remove it first")
            set_targets(nats, source, [*before, *targets])

    account = change_account(store, account.name, change)
    return view.sheet(account, {source: list_mappings(account.nats)[source] for source in added})


def _get_target_identity(target: Json) -> tuple[str, str]:
    return str(target.get("subject")), str(target.get("cluster") or "")
