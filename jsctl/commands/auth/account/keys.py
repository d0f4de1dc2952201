"""`jsctl auth account keys`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.fields import USER
from jsctl.auth.keys import ACCOUNT, create_key, is_public_key
from jsctl.auth.records import (
    USER_SCOPE,
    Json,
    build_permissions,
    get_signing_key,
    list_signing_keys,
    remove_signing_key,
)
from jsctl.auth.rotation import find_imports_by_key
from jsctl.auth.settings import UserSettings
from jsctl.base.command_lines import build_line
from jsctl.commands.auth.user.flags import SECTIONS
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.picking.auth import (
    account_argument,
    of_account,
    of_signing_key,
    operator_option,
    pick_operator_account,
    pick_operator_key,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.prompts.prompter import check_filled
from jsctl.views.auth import keys as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


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


@command("info", examples=["jsctl auth account keys info ORDERS shipper"])
@of_signing_key
async def info(env: Env, account: str, role: str, key: str, operator: str) -> Result:
    store, owner, signing_key = await pick_operator_key(env, operator, account, role or key)
    return view.info_page(store, owner, signing_key.public)


@dataclass(frozen=True, slots=True)
class EditOptions:
    account: str
    role: str
    key: str
    operator: str
    description: str | None
    config: ConfigFlags


@command(
    "edit",
    sections=SECTIONS,
    examples=["jsctl auth account keys edit ORDERS shipper --pub-deny 'orders.deleted'"],
)
@of_signing_key
@option("--description", metavar="TEXT", default=None, help="Description of the role")
@config_flags(USER, "edit")
async def edit(env: Env, options: EditOptions) -> Result:
    """Change what the flags name; other settings stay as they are. The change applies to the key's users once
    the account is pushed; they need no new credentials.
    """
    name = options.role or options.key
    store, account, key = await pick_operator_key(env, options.operator, options.account, name)
    if key.scope is None:
        raise BadInput(
            f"the key {key.public} has no scope",
            f"its users have permissions of their own: {build_line('auth user edit')}",
        )

    has_kind = key.scope.get("kind") == USER_SCOPE
    if has_kind and not options.config.values and options.description is None:
        raise BadInput("there is nothing to change", "use flags for what to set")

    def change(nats: Json) -> None:
        current = get_signing_key(nats, key.public)
        if current is None or current.scope is None:
            raise BadInput(f"the key {key.public} no longer exists")
        template = dict(current.template)
        UserSettings(options.config.values).apply_permissions(template)
        current.scope.update(kind=USER_SCOPE, template=template)
        if options.description is not None:
            current.scope["description"] = options.description

    account = change_account(store, account.name, change)
    return view.info_page(store, account, key.public)


@command("ls", columns=view.COLUMNS, examples=["jsctl auth account keys ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    return view.listing(store, owner)


@command("rm", examples=["jsctl auth account keys rm ORDERS shipper --force"])
@of_signing_key
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, account: str, role: str, key: str, operator: str, force: bool) -> Result:
    """Remove the key and its seed. Once the account is pushed, servers refuse the users that it signed."""
    store, owner, signing_key = await pick_operator_key(env, operator, account, role or key)
    signed = [user.name for user in store.load_users(owner.name) if user.issuer == signing_key.public]
    if signed:
        env.say(f"jsctl: the key signed {', '.join(signed)}; these users will not be able to log in")
    for sentence in find_imports_by_key(store, owner, signing_key.public):
        env.say(f"jsctl: this import will end: {sentence}")
    label = f"{signing_key.role} {signing_key.public}".strip()
    data = {"account": owner.name, "removed": signing_key.public, "role": signing_key.role, "users": signed}
    await env.confirm(Intent(f"remove the signing key {label} of {owner.name}", data), force=force)
    change_account(store, owner.name, lambda nats: remove_signing_key(nats, signing_key.public))
    store.remove_seed(signing_key.public)
    return report(f"Signing key {label} was removed from {owner.name}", data)
