"""`jsctl auth account keys rm`."""

from jsctl.auth.changes import change_account
from jsctl.auth.claims import Json, set_or_drop
from jsctl.commands.cli import command, destructive
from jsctl.commands.picking.auth import of_signing_key, pick_operator_key
from jsctl.env import Env
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl auth account keys rm ORDERS shipper --force"])
@of_signing_key
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, account: str, role: str, key: str, operator: str, force: bool) -> Result:
    """Remove the key and its seed. Once the account is pushed, servers refuse the users that it signed."""
    store, owner, signing_key = await pick_operator_key(env, operator, account, role or key)
    signed = [user.name for user in store.load_users(owner.name) if user.issuer == signing_key.public]
    if signed:
        env.say(f"jsctl: the key signed {', '.join(signed)}; these users will not be able to log in")
    label = f"{signing_key.role} {signing_key.public}".strip()
    data = {"account": owner.name, "removed": signing_key.public, "role": signing_key.role, "users": signed}
    await env.confirm(Intent(f"remove the signing key {label} of {owner.name}", data), force=force)

    def change(nats: Json) -> None:
        keys = nats.get("signing_keys") or []
        kept = [
            key for key in keys if signing_key.public != (key.get("key") if isinstance(key, dict) else key)
        ]
        set_or_drop(nats, "signing_keys", kept)

    change_account(store, owner.name, change)
    store.remove_seed(signing_key.public)
    return report(f"Signing key {label} was removed from {owner.name}", data)
