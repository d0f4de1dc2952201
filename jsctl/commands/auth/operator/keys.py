"""`jsctl auth operator keys`."""

from jsctl.auth.changes import change_operator
from jsctl.auth.keys import OPERATOR, create_key
from jsctl.auth.records import Json, remove_signing_key
from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.auth import operator_argument, pick_operator, pick_text
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.auth import operator as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text, report


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
    change_operator(store, lambda nats: remove_signing_key(nats, key))
    store.remove_seed(key)
    return report(f"Signing key {key} was removed", data)
