"""`jsctl auth keys rotate`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account, change_operator, find_signing_key, leave_unchanged
from jsctl.auth.environment import read_claims
from jsctl.auth.keys import ACCOUNT, OPERATOR
from jsctl.auth.records import Account, list_signing_keys, remove_signing_key
from jsctl.auth.resolver import fetch_account_jwts, fetch_trust, list_foreign_accounts
from jsctl.auth.rotation import (
    Rotation,
    add_new_key,
    begin_rotation,
    end_rotation,
    find_rotations,
    plan_users,
    sign_users,
)
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.commands.cli import command, destructive, option
from jsctl.commands.operators.pushing import check_accounts
from jsctl.commands.operators.rotating import (
    count_all_servers,
    fetch_users_of_key,
    list_imports_by_key,
    push_accounts,
    refuse_unpushed,
)
from jsctl.commands.operators.system import connect_to_system
from jsctl.commands.picking.auth import (
    of_signing_key,
    pick_account,
    pick_operator,
    pick_signing_key,
    pick_text,
)
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.monitor.server.requests import count_servers
from jsctl.nats.connection import Connection
from jsctl.views.auth import rotation as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    account: str
    role: str
    key: str
    operator: str
    of_operator: bool
    lock_out: bool
    as_system: bool
    force: bool

    def __post_init__(self) -> None:
        if self.of_operator and (self.account or self.role):
            raise BadInput("--of-operator replaces a key of the operator", "leave out ACCOUNT, or use --key")
        if self.of_operator and self.lock_out:
            raise BadInput("--lock-out is for keys of accounts", "leave it out")

    @property
    def name(self) -> str:
        """The role or public key of what is to be replaced; empty if it was not named."""
        return self.role or self.key


@command(
    "rotate",
    examples=[
        "jsctl auth keys rotate ORDERS shipper --dry-run",
        "jsctl auth keys rotate ORDERS shipper --force",
        "jsctl auth keys rotate --of-operator",
    ],
)
@of_signing_key
@option("--of-operator", is_flag=True, help="Replace a signing key of the operator, not one of an account")
@option(
    "--lock-out",
    is_flag=True,
    help="Remove the old key although it is in use: who logged in with it is disconnected",
)
@option(
    "--as-system", is_flag=True, help="Log in as a temporary user of the system account, not with the context"
)
@destructive("Replace without asking")
async def rotate(env: Env, options: Options) -> Result:
    """Create a key with the same scope, send it to the servers, sign all users of the old key with it, write
    their credentials, in the store and where contexts have copies of them, and remove the old key once no
    client is connected with it and no credentials or activation tokens are known that it signed. Until then
    both are valid and the status is 1; the same command continues, also after it was killed. Credentials that
    were copied elsewhere are not known: they stop working then.

    With --of-operator, sign the accounts again. The servers must have the operator's new JWT before that, and
    once more at the end: jsctl auth operator config.
    """
    store = await pick_operator(env, options.operator)
    if options.of_operator:
        return await _rotate_operator_key(env, store, options)
    account = await pick_account(env, store, options.account)
    rotation = await _choose_key(env, store, account, options.name)
    check_accounts(env, store, [account])
    connection = await connect_to_system(env, store, as_system=options.as_system)
    servers = await (count_servers if options.lock_out else count_all_servers)(connection)
    await refuse_unpushed(store, connection, [account], rotation, servers)
    role = next((key.role for key in list_signing_keys(account.nats) if key.public in rotation), "")
    owner = {"operator": store.operator, "account": account.name, "role": role.removesuffix("-old")}
    label = f"signing key {rotation.old} of account {account.name}"
    copies = _list_creds_of_contexts(env, store)
    users, unreached = plan_users(store, account, rotation, copies)
    unreached += await list_imports_by_key(store, connection, account, rotation.old, servers)
    connected = await fetch_users_of_key(connection, account.public, rotation.old, servers)
    names = {user.public: user.name for user in store.load_users(account.name)}
    where = f"send account {account.name} to {pluralize(servers, 'server')}"
    added = [] if rotation.new else [f"add a new signing key to account {account.name}"]
    last = f"Would remove {rotation.old}" + (
        ", and disconnect who uses it" if options.lock_out else " once nobody uses it"
    )
    facts = view.build_facts(owner, rotation, users, unreached, connected, names)
    await env.confirm(view.rotation_intent(label, facts, [*added, where], last), force=options.force)

    rotation = begin_rotation(store, rotation.old, ACCOUNT)
    account = change_account(store, account.name, lambda nats: add_new_key(nats, rotation))
    await push_accounts(env, store, connection, [account.name], servers)
    users, unreached = plan_users(store, account, rotation, copies)
    with env.progress("Signing", len(users)) as advance:
        sign_users(store, account, rotation, users, advance)
    unreached += await list_imports_by_key(store, connection, account, rotation.old, servers)
    connected = await fetch_users_of_key(connection, account.public, rotation.old, servers)
    facts = view.build_facts(owner, rotation, users, unreached, connected, names)
    is_used = bool(connected) or any(each.blocks for each in unreached)
    if is_used and not options.lock_out and rotation.old in account.signing_keys:
        return view.rotation_result(label, facts, is_done=False)
    change_account(store, account.name, lambda nats: remove_signing_key(nats, rotation.old))
    if account.public == store.read_operator().system_account:  # the login may be one that the old key signed
        connection = await connect_to_system(env, store, as_system=options.as_system)
    await push_accounts(env, store, connection, [account.name], servers)
    end_rotation(store, rotation)
    return view.rotation_result(label, facts, is_done=True)


async def _choose_key(env: Env, store: AuthStore, account: Account, name: str) -> Rotation:
    """Return the rotation of the key that is named, of the only one, or of one that the user picks; one that
    was begun continues. Raises NotFound, BadInput."""
    pending = find_rotations(store, account.signing_keys)
    if not name and len(pending) == 1:
        return pending[0]
    if name not in {rotation.old for rotation in pending}:
        keys = list_signing_keys(account.nats)
        single = keys[0].public if len(keys) == 1 else ""
        picked = await pick_signing_key(env, account, name or single, "ROLE", keys)
        name = find_signing_key(account, picked.public).public
    return next((rotation for rotation in pending if name in rotation), Rotation(name))


def _list_creds_of_contexts(env: Env, store: AuthStore) -> dict[str, str]:
    """Return the credentials files outside the store that contexts name, each with its context."""
    files: dict[str, str] = {}
    for name in env.contexts.names():
        try:
            file = str(env.contexts.load(name).raw.get("creds") or "")
        except JsctlError:
            continue
        if file and not file.startswith(f"{store.folders.keys}/"):
            files.setdefault(file, f"context {name}")
    return files


async def _rotate_operator_key(env: Env, store: AuthStore, options: Options) -> Result:
    rotation = await _choose_operator_key(env, store, options.name)
    connection = await connect_to_system(env, store, as_system=options.as_system)
    servers = await count_all_servers(connection)
    accounts = [
        account for account in store.read_accounts() if account.issuer in (rotation.old, rotation.new)
    ]
    check_accounts(env, store, accounts)
    await refuse_unpushed(store, connection, accounts, rotation, servers)
    foreign = await _list_foreign(store, connection, rotation.old, servers)
    label = f"signing key {rotation.old} of operator {store.operator}"
    facts = {
        "operator": store.operator,
        "old": rotation.old,
        "accounts": [account.name for account in accounts],
        "foreign": foreign,
    }
    steps = [] if rotation.new else [f"add a new signing key to operator {store.operator}"]
    steps += [f"sign account {account.name} again, and send it to the servers" for account in accounts]
    last = f"Would remove {rotation.old} once no account is signed with it"
    await env.confirm(view.operator_intent(label, facts, steps, last), force=options.force)

    rotation = begin_rotation(store, rotation.old, OPERATOR)
    facts["new"] = rotation.new
    operator = change_operator(store, lambda nats: add_new_key(nats, rotation))
    config = f"{build_line('auth operator config', store.operator)} prints it"
    for trust in await fetch_trust(connection, servers):
        if rotation.new not in trust.keys:
            hint = f"configure the server with it ({config}), reload it, and run this again"
            return view.operator_result(
                label, facts, f"server {trust.server} does not have the operator's new JWT: {hint}"
            )
    for account in accounts:
        change_account(store, account.name, leave_unchanged, signer=rotation.new)
    await push_accounts(env, store, connection, [account.name for account in accounts], servers)
    if rotation.old in operator.signing_keys:
        if foreign := await _list_foreign(store, connection, rotation.old, servers):
            facts["foreign"] = foreign
            reason = "servers have accounts that the old key signed and that the store does not have: "
            return view.operator_result(label, facts, reason + ", ".join(foreign))
        change_operator(store, lambda nats: remove_signing_key(nats, rotation.old))
    end_rotation(store, rotation)
    last = f"The servers accept the old key until they have the operator's new JWT: {config}"
    return view.operator_result(label, facts, last, is_done=True)


async def _choose_operator_key(env: Env, store: AuthStore, name: str) -> Rotation:
    keys = store.read_operator().signing_keys
    pending = find_rotations(store, keys)
    if not name and len(pending) == 1:
        return pending[0]
    if not keys:
        hint = f"{build_line('auth operator keys add', store.operator)} adds one"
        raise NotFound(f"operator {store.operator} has no signing keys", hint)
    name = name or (
        keys[0] if len(keys) == 1 else await pick_text(env, keys, "signing key", "Signing Key", "--key")
    )
    if name not in {*keys, *(rotation.old for rotation in pending)}:
        raise NotFound(
            f"operator {store.operator} has no signing key {name}",
            f"{build_line('auth operator keys ls', store.operator)} lists them",
        )
    return next((rotation for rotation in pending if name in rotation), Rotation(name))


async def _list_foreign(store: AuthStore, connection: Connection, key: str, servers: int) -> list[str]:
    """Return the accounts on servers that a key signed, and that are not in the store, by public key."""
    others = await list_foreign_accounts(connection, store, servers)
    tokens = await fetch_account_jwts(connection, others, servers)
    return [public for public, token in tokens.items() if read_claims(token).get("iss") == key]
