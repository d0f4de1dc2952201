"""`jsctl auth operator keys add`."""

from jsctl.auth.changes import change_operator
from jsctl.auth.keys import OPERATOR, create_key
from jsctl.auth.records import Json
from jsctl.commands.cli import command
from jsctl.commands.picking.auth import operator_argument, pick_operator
from jsctl.env import Env
from jsctl.views.result import Result, Text


@command("add", examples=["jsctl auth operator keys add ACME"])
@operator_argument()
async def add(env: Env, name: str) -> Result:
    """Let the key sign accounts. Servers accept them once their configuration has the operator's new JWT."""
    store = await pick_operator(env, name, flag="NAME")
    key = create_key(OPERATOR)
    store.write_seed(key)

    def change(nats: Json) -> None:
        nats["signing_keys"] = [*(nats.get("signing_keys") or ()), key.public]

    change_operator(store, change)
    return Result([Text(key.public, whole=True)], data={"operator": store.operator, "key": key.public})
