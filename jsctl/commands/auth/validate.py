"""`jsctl auth validate`."""

from jsctl.auth.check import check
from jsctl.auth.environment import read_environment
from jsctl.commands.auth.choose import account_argument, operator_option, pick_operator
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.views.auth.findings import findings_result
from jsctl.views.result import Result


@command(
    "validate",
    examples=["jsctl auth validate", "jsctl auth validate ORDERS", "jsctl auth validate --json"],
)
@account_argument()
@operator_option()
async def validate(env: Env, account: str, operator: str) -> Result:
    """Looks at the operator, all its accounts or one, and their users: at each JWT by itself, and at what
    accounts import from each other. Each finding comes with the line that mends it. The exit status is 1
    when there is an error; warnings alone leave it 0."""
    store = await pick_operator(env, operator)
    environment = read_environment(store.root, store.operator)
    if not account:
        return findings_result(check(environment), f"operator {store.operator}")
    chosen = environment.find_account(account)
    return findings_result(check(environment, [chosen]), f"account {chosen.name}")
