"""`jsctl auth operator list`."""

from jsctl.auth.store import AuthStore
from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import load_each, read_choices
from jsctl.env import Env
from jsctl.views.auth import names_result
from jsctl.views.auth import operator as view
from jsctl.views.result import Result


@command("list", columns=view.COLUMNS, examples=["jsctl auth operator ls", "jsctl auth operator ls --names"])
@option("--names", is_flag=True, help="Only names, one per line")
def list_(env: Env, names: bool) -> Result:
    choices = read_choices(env)
    operator_names = choices.folders.list_operators()
    if names:
        return names_result(operator_names)
    operators = load_each(env, operator_names, lambda name: AuthStore(choices.folders, name).load_operator())
    return view.listing(choices.folders, operators, choices.operator.value)
