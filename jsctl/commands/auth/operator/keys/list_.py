"""`jsctl auth operator keys list`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import operator_argument, pick_operator
from jsctl.env import Env
from jsctl.views.auth import operator as view
from jsctl.views.result import Result


@command("list", columns=view.KEY_COLUMNS, examples=["jsctl auth operator keys ls ACME"])
@operator_argument()
async def list_(env: Env, name: str) -> Result:
    """Also show whether the store has the seed of each key, which is needed to sign."""
    store = await pick_operator(env, name, flag="NAME")
    issued = dict.fromkeys(store.read_operator().signing_keys, 0)
    for account in store.load_accounts():
        if account.issuer in issued:
            issued[account.issuer] += 1
    return view.keys([(public, store.has_seed(public), count) for public, count in issued.items()])
