"""`jsctl auth operator info`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import operator_argument, pick_operator
from jsctl.env import Env
from jsctl.views.auth import operator as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth operator info ACME", "jsctl auth operator info --json"])
@operator_argument()
async def info(env: Env, name: str) -> Result:
    """Print the claims as they are in the JWT with --json, with the JWT itself and the accounts."""
    return view.info_page(await pick_operator(env, name, flag="NAME"))
