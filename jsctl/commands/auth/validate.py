"""`jsctl auth validate`."""

from jsctl.auth.check import check
from jsctl.auth.check.servers import check_servers
from jsctl.auth.environment import read_environment
from jsctl.commands.auth.servers import ask_servers, servers_flags
from jsctl.commands.cli import command
from jsctl.commands.picking.auth import account_argument, operator_option, pick_operator
from jsctl.env import Env
from jsctl.views.auth.findings import findings_result
from jsctl.views.result import Result


@command(
    "validate",
    examples=["jsctl auth validate", "jsctl auth validate ORDERS", "jsctl auth validate --servers --json"],
)
@account_argument()
@servers_flags
@operator_option()
async def validate(env: Env, account: str, operator: str, servers: bool, as_system: bool) -> Result:
    """Check the operator, one or all of its accounts, and their users: each JWT by itself, and what accounts
    import from each other. Each finding includes the command that fixes it. The exit status is 1 if there are
    errors; it is 0 if there are only warnings. --servers also finds an outdated operator JWT on servers, and
    accounts that were not pushed.
    """
    store = await pick_operator(env, operator)
    environment = read_environment(store.folders, store.operator)
    accounts = [environment.find_account(account)] if account else None
    findings = check(environment, accounts)
    if servers:
        public_keys = [member.public for member in accounts or environment.accounts]
        trusts, tokens = await ask_servers(env, store, public_keys, as_system=as_system)
        findings += check_servers(environment, trusts, tokens)
    findings.sort(key=lambda finding: finding.severity != "error")
    scope = f"account {accounts[0].name}" if accounts else f"operator {store.operator}"
    return findings_result(findings, scope)
