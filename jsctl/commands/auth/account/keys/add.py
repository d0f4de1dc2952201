"""`jsctl auth account keys add`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.fields import USER
from jsctl.auth.keys import ACCOUNT, create_key, is_public_key
from jsctl.auth.records import Json, build_permissions, get_signing_key, list_signing_keys
from jsctl.auth.settings import UserSettings
from jsctl.commands.auth.user.flags import SECTIONS
from jsctl.commands.cli import argument, command, option
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.picking.auth import (
    account_argument,
    operator_option,
    pick_operator_account,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.prompts.prompter import check_filled
from jsctl.views.auth import keys as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    account: str
    role: str
    operator: str
    description: str
    no_scope: bool
    public_key: str
    config: ConfigFlags

    def __post_init__(self) -> None:
        if self.no_scope and (self.role or self.description or self.config.values):
            raise BadInput(
                "a key without a scope cannot have a role, description or permissions", "leave out --unscoped"
            )
        if self.public_key and not is_public_key(self.public_key, ACCOUNT):
            raise BadInput(f"{self.public_key!r} is not a public key of an account", "such keys start with A")


@command(
    "add",
    sections=SECTIONS,
    examples=[
        "jsctl auth account keys add ORDERS shipper --pub-allow 'orders.shipped' --sub-allow 'orders.>'",
        "jsctl auth account keys add ORDERS --unscoped",
    ],
)
@account_argument()
@argument("role", default="")
@operator_option()
@option("--description", metavar="TEXT", default="", help="Description of the role")
@option(
    "--unscoped",
    "--no-scope",
    "no_scope",
    is_flag=True,
    help="Add a key whose users have permissions of their own",
)
@option("--public-key", metavar="KEY", default="", help="Add this public key, whose seed somebody else keeps")
@config_flags(USER, "add")
async def add(env: Env, options: Options) -> Result:
    """Apply these permissions and limits to all users signed with the key, also when they change later."""
    store, account = await pick_operator_account(env, options.operator, options.account)
    role = options.role
    if not role and not options.no_scope:
        if not env.can_ask:
            raise BadInput(
                "the role is missing", "specify ROLE, or use --unscoped for a key without permissions"
            )
        role = await env.prompter.text("Role name", flag="ROLE", check=check_filled)
    if role and any(key.role == role for key in list_signing_keys(account.nats)):
        raise BadInput(f"account {account.name} already has a key for role {role}", "use another name")
    template = build_permissions()
    UserSettings(options.config.values).apply_permissions(template)
    public = options.public_key
    if not public:
        pair = create_key(ACCOUNT)
        store.write_seed(pair)
        public = pair.public

    def change(nats: Json) -> None:
        scope = {
            "kind": "user_scope",
            "key": public,
            "role": role,
            "template": template,
            "description": options.description,
        }
        if get_signing_key(nats, public):
            raise BadInput(f"{public} is already a signing key")
        nats["signing_keys"] = [*(nats.get("signing_keys") or ()), public if options.no_scope else scope]

    account = change_account(store, account.name, change)
    return view.info_page(store, account, public)
