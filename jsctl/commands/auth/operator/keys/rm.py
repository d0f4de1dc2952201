"""`jsctl auth operator keys rm`."""

from jsctl.auth.changes import change_operator
from jsctl.auth.claims import Json, set_or_drop
from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.auth import operator_argument, pick_operator, pick_text
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl auth operator keys rm ACME OC6UDG77GH... --force"])
@operator_argument()
@argument("public", metavar="[KEY]", default="")
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, name: str, public: str, force: bool) -> Result:
    """Remove the key and its seed. Accounts that it signed must be signed again: auth account edit --key."""
    store = await pick_operator(env, name, flag="NAME")
    signers = store.load_operator().signing_keys
    key = public or await pick_text(env, signers, "signing key", "Signing Key", "KEY")
    if key not in signers:
        raise NotFound(
            f"operator {store.operator} has no signing key {key}",
            f"{build_line('auth operator keys ls', store.operator)} lists them",
        )
    signed = [account.name for account in store.load_accounts() if account.issuer == key]
    if signed:
        env.say(f"jsctl: it signed {', '.join(signed)}, which must be signed again")
    data = {"operator": store.operator, "removed": key, "signed": signed}
    await env.confirm(Intent(f"remove the signing key {key}", data), force=force)

    def change(nats: Json) -> None:
        kept = [public_key for public_key in nats.get("signing_keys") or () if public_key != key]
        set_or_drop(nats, "signing_keys", kept)

    change_operator(store, change)
    store.remove_seed(key)
    return report(f"Signing key {key} was removed", data)
