"""`jsctl auth account mappings add`."""

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
    return view.info_page(owner, {origin: list_mappings(owner.nats)[origin] for origin in added})


def _get_target_identity(target: Json) -> tuple[str, str]:
    return str(target.get("subject")), str(target.get("cluster") or "")
