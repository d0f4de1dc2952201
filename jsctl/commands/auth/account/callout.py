"""`jsctl auth account callout`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.claims import Json, set_or_drop
from jsctl.auth.keys import ACCOUNT, CURVE, USER, is_public_key
from jsctl.auth.records import Record
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import of_account, pick_account, pick_operator_account, pick_user
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Field, InfoPage, Result, Section

_ANY = "*"


def _build_page(store: AuthStore, account: Record) -> Result:
    """Show an account's callout; the document is its claim."""
    callout = account.nats.get("authorization") or {}
    users = {user.public: user.name for user in store.load_users(account.name)}
    accounts = {other.public: other.name for other in store.load_accounts()}
    fields = [Field("Enabled", bool(callout.get("auth_users")), "bool")]
    if listed := callout.get("auth_users"):
        fields.append(Field("Users of the Service", [_format_name(key, users) for key in listed]))
    if allowed := callout.get("allowed_accounts"):
        fields.append(Field("Allowed Accounts", [_format_name(key, accounts) for key in allowed]))
    if xkey := callout.get("xkey"):
        fields.append(Field("Encrypted with", str(xkey)))
    heading = f"Auth Callout of Account {account.name}"
    return Result([InfoPage(heading, [Section("Configuration", fields)])], data=callout)


def _format_name(key: str, names: dict[str, str]) -> str:
    return f"{names[key]} ({key})" if key in names else key


@dataclass(frozen=True, slots=True)
class Options:
    account: str
    operator: str
    auth_user: tuple[str, ...]
    allow: tuple[str, ...]
    xkey: str | None
    off: bool

    def __post_init__(self) -> None:
        if self.off and (self.auth_user or self.allow or self.xkey):
            raise BadInput("--off cannot be used with other settings")
        if self.xkey and not is_public_key(self.xkey, CURVE):
            raise BadInput(
                f"{self.xkey!r} is not a public curve key",
                f"{build_line('auth nkey gen')} curve --public creates one",
            )
        if _ANY in self.allow and len(self.allow) > 1:
            raise BadInput("* allows all accounts", "do not combine it with others")


@command(
    "callout",
    examples=[
        "jsctl auth account callout AUTH --auth-user service --allow ORDERS --allow SHOP",
        "jsctl auth account callout AUTH",
    ],
)
@of_account
@option(
    "--auth-user", metavar="USER", multiple=True, help="User of the service that answers; may be repeated"
)
@option(
    "--allow",
    metavar="ACCOUNT",
    multiple=True,
    help="Account to which it may assign users, or * for all; may be repeated",
)
@option(
    "--xkey",
    metavar="KEY",
    default=None,
    help="Public curve key that requests are encrypted with; empty for none",
)
@option("--off", is_flag=True, help="Turn the callout off")
async def callout(env: Env, options: Options) -> Result:
    """Show the settings, or change them with the flags. With an auth callout, servers ask a service of the
    account who a user is.
    """
    store, account = await pick_operator_account(env, options.operator, options.account)
    users = []
    for name in options.auth_user:
        user = name if is_public_key(name, USER) else (await pick_user(env, store, account, name)).public
        users.append(user)
    accounts = []
    for name in options.allow:
        is_key = name == _ANY or is_public_key(name, ACCOUNT)
        accounts.append(name if is_key else (await pick_account(env, store, name)).public)

    def change(nats: Json) -> None:
        callout: Json = {} if options.off else dict(nats.get("authorization") or {})
        for key, value in (("auth_users", users), ("allowed_accounts", accounts)):
            if value:
                callout[key] = value
        if options.xkey is not None:
            callout["xkey"] = options.xkey
        set_or_drop(callout, "xkey", callout.get("xkey"))
        if callout and not callout.get("auth_users"):
            raise BadInput("a callout needs the users of its service", "specify them with --auth-user")
        nats["authorization"] = callout

    if users or accounts or options.xkey is not None or options.off:
        account = change_account(store, account.name, change)
    return _build_page(store, account)
