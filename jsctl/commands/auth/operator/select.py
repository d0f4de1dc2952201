"""`jsctl auth operator select`."""

from jsctl.auth.folders import read_selected_operator, select_operator
from jsctl.auth.store import AuthStore
from jsctl.commands.cli import command
from jsctl.commands.picking.auth import operator_argument, pick_operator, pick_text, read_choices
from jsctl.env import Env
from jsctl.views.result import Result


@command("select", examples=["jsctl auth operator select ACME"])
@operator_argument()
async def select(env: Env, name: str) -> Result:
    """Use the operator in all commands that do not name one; nats uses it, too."""
    operators = read_choices(env).folders.list_operators()
    if not name and len(operators) > 1:
        name = await pick_text(env, operators, "operator", "Operator", "NAME")
    store: AuthStore = await pick_operator(env, name, flag="NAME")
    before = read_selected_operator(env.environ)
    select_operator(env.environ, store.operator)
    env.inform(f"jsctl: operator {store.operator} is selected")
    return Result(data={"selected": store.operator, "before": before})
