"""`jsctl auth user rm`."""

from jsctl.auth.changes import change_account
from jsctl.auth.revocations import Revocation, add_revocation
from jsctl.commands.cli import command, destructive, option
from jsctl.commands.picking.auth import of_account, pick_operator, pick_user, pick_user_account, user_argument
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command(
    "rm", examples=["jsctl auth user rm alice ORDERS", "jsctl auth user rm alice ORDERS --revoke --force"]
)
@user_argument()
@of_account
@option("--revoke", is_flag=True, help="Revoke the user, too, so that servers refuse them after a push")
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, name: str, account: str, operator: str, revoke: bool, force: bool) -> Result:
    """Remove the credentials and the seed from the store. Without --revoke, copies of the credentials remain
    valid.
    """
    if force and not name:
        raise BadInput("--force needs the user's name", "specify NAME")
    store = await pick_operator(env, operator)
    owner = await pick_user_account(env, store, name, account, doubted=True)
    public = ""
    try:
        user = await pick_user(env, store, owner, name, doubted=True)
        name, public = user.name, user.public
    except (NotFound, BadInput):
        raise
    except JsctlError as error:  # the user's file is damaged; remove it anyway
        if revoke:
            raise
        env.say(f"jsctl: {error.message}")
    action = f"revoke and remove user {name}" if revoke else f"remove user {name}"
    facts = {"user": name, "account": owner.name, "key": public, "revoked": revoke}
    await env.confirm(Intent(f"{action} of account {owner.name}", facts), force=force)
    if revoke:
        revocation = Revocation("", public, int(env.clock()))
        change_account(store, owner.name, lambda nats: add_revocation(nats, revocation, owner.name))
    with store.locked():
        store.remove_user(owner.name, name)
        store.remove_seed(public)
    data = {"removed": name, "account": owner.name, "key": public, "revoked": revoke}
    return report(f"User {name} of {owner.name} was removed", data)
