"""`jsctl auth account revocations add`."""

from jsctl.auth.changes import change_account
from jsctl.auth.revocations import Revocation, add_revocation, find_key
from jsctl.base.units import SECOND, format_time, parse_past_time, seconds_to_ns
from jsctl.commands.cli import argument, command, dry_run_flag, option
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import revocations as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result


@command(
    "add",
    examples=[
        "jsctl auth account revocations add alice ORDERS",
        "jsctl auth account revocations add '*' ORDERS --at 24h",
        "jsctl auth account revocations add SHOP ORDERS --export prices.get",
    ],
)
@argument("name", metavar="NAME|KEY|*")
@of_account
@option("--export", metavar="SUBJECT", default="", help="Revoke activation tokens of this export")
@option(
    "--at", metavar="TIME|DURATION", default="", help="Refuse what was signed up to this time, by default now"
)
@dry_run_flag("Only show what would be revoked")
async def add(env: Env, name: str, account: str, operator: str, export: str, at: str) -> Result:
    """Revoke a user, all users (`*`) or, with --export, the activation tokens of an account.

    Servers refuse them once the account is pushed. What is signed later is valid.
    """
    now = seconds_to_ns(env.clock())
    try:
        time = (parse_past_time(at, now) if at else now) // SECOND
    except ValueError as error:
        raise BadInput(f"--at: {error}") from None
    store, owner = await pick_operator_account(env, operator, account)
    key = find_key(store, owner, name, of_export=bool(export))
    revocation = Revocation(export, key, time)
    text = f"what was signed for {name} up to {format_time(time * SECOND)}"
    facts = {"account": owner.name, "key": key, "export": export, "time": time}
    env.announce(Intent(f"revoke {text} in account {owner.name}", facts))
    owner = change_account(store, owner.name, lambda nats: add_revocation(nats, revocation, owner.name))
    return view.listing(store, owner)
