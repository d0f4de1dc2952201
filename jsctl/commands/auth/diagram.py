"""`jsctl auth diagram`."""

import click

from jsctl.auth.diagram import make_graph
from jsctl.auth.environment import read_environment
from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import operator_option, pick_operator
from jsctl.env import Env
from jsctl.views.auth.diagram import FORMATS, diagram_result
from jsctl.views.result import Result


@command(
    "diagram",
    examples=[
        "jsctl auth diagram",
        "jsctl auth diagram --format dot | dot -Tsvg > accounts.svg",
        "jsctl auth diagram --format mermaid",
    ],
)
@option(
    "--format",
    "drawing",
    type=click.Choice(FORMATS),
    default="tree",
    help="A tree for the terminal, or text for Graphviz or Mermaid",
)
@operator_option()
async def diagram(env: Env, drawing: str, operator: str) -> Result:
    """Draw dashed lines for imports that do not work and for accounts that the store does not have."""
    store = await pick_operator(env, operator)
    return diagram_result(make_graph(read_environment(store.folders, store.operator)), drawing)
