"""`jsctl auth import`."""

from collections.abc import Mapping
from typing import NamedTuple

from jsctl.auth.check.users import check_user
from jsctl.auth.claims import as_text
from jsctl.auth.environment import Environment
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import USER, KeyPair, find_key_text, is_seed, parse_seed
from jsctl.auth.records import Account, User
from jsctl.auth.shapes import check_shape
from jsctl.auth.signatures import find_user_doubt
from jsctl.auth.store import AuthStore, check_name, extract_jwt, require_genuine
from jsctl.base.command_lines import build_line
from jsctl.base.files import read_input
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.auth import operator_option, pick_operator
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Result, Table

COLUMNS = (
    Column("User", "user"),
    Column("Account", "account"),
    Column("Subject", "subject"),
    Column("Replaces", "replaces", "bool"),
)


class _New(NamedTuple):
    """A user from credentials. replaces: whether the store has another JWT of this name."""

    user: User
    pair: KeyPair
    replaces: bool


@command(
    "import",
    columns=COLUMNS,
    examples=["jsctl auth import alice.creds", "jsctl auth import alice.creds bob.creds --dry-run"],
)
@argument("file", nargs=-1, required=True, metavar="FILE...")
@operator_option()
@destructive("Replace users of the same names")
async def import_(env: Env, file: tuple[str, ...], operator: str, force: bool) -> Result:
    """Store the users of credentials files, with their seeds. Their accounts must be in the store, and a key
    of the account must have signed each. All files are checked before anything is written; of a user that has
    expired or is revoked, a warning says so.
    """
    store = await pick_operator(env, operator)
    accounts = {account.public: account for account in store.load_accounts()}
    found: dict[tuple[str, str], _New] = {}
    for path in file:
        new = _read_user(env, store, accounts, path)
        name = new.user.account, new.user.name
        if name in found and found[name].user.token != new.user.token:
            raise BadInput(f"{path}: user {name[1]} of account {name[0]} is in another of the files, too")
        if new.replaces and not force:
            raise BadInput(f"account {name[0]} has a user {name[1]}", "replace its JWT and key with --force")
        found[name] = new
    rows = [(new.user.name, new.user.account, new.user.public, new.replaces) for new in found.values()]
    users = ", ".join(f"{user} of account {account}" for user, account, *_ in rows)
    table = Table("Imported Users", COLUMNS, rows)
    environment = Environment(store.load_operator(), list(accounts.values()))
    for new in found.values():
        for finding in check_user(environment, accounts[new.user.issuer_account], new.user, env.clock()):
            if finding.is_blocking:
                env.say(f"warning: {finding.where}: {finding.message}")
    env.announce(Intent(f"store {users}", {"users": table.records()}))
    with store.locked():
        for new in found.values():
            store.write_seed(new.pair)
            store.write_user(new.user.account, new.user.name, new.user.token, new.pair)
    return Result([table])


def _read_user(env: Env, store: AuthStore, accounts: Mapping[str, Account], path: str) -> _New:
    """Return the user of a credentials file. Raises BadInput; NotFound for an account that the store does not
    have, NotGenuine, JsctlError for a JWT that no key of the account has signed."""
    text = read_input(path, env.streams.stdin)
    token, key = extract_jwt(text), find_key_text(text)
    if not token or not is_seed(key):
        raise BadInput(f"{path} holds no credentials", "use a file with a user's JWT and seed")
    try:
        claims = check_shape(decode_jwt(token), USER)
    except BadInput as error:
        raise BadInput(f"{path}: {error.message}", error.hint) from None
    pair, user = parse_seed(key), User(as_text(claims.get("name")), token, claims)
    if as_text(user.nats.get("type")) != USER or pair.public != user.public:
        raise BadInput(f"{path}: the seed and the JWT are not those of one user")
    check_name(user.name, USER)
    if user.issuer_account not in accounts:
        raise NotFound(
            f"account {user.issuer_account} of user {user.name} is not in the store of {store.operator}",
            f"{build_line('auth account query', user.issuer_account, flags=['--save'])} fetches it",
        )
    owner = require_genuine(accounts[user.issuer_account])
    if doubt := find_user_doubt(user.name, token, claims, owner.claims, owner.name):
        raise JsctlError(f"{path}: {doubt}", "get credentials that a key of the account has signed")
    current = store.get_user_path(owner.name, user.name)
    replaces = current.exists() and current.read_text("utf-8", "replace").strip() != token
    return _New(User(user.name, token, claims, account=owner.name), pair, replaces)
