"""`jsctl auth account keys edit`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.fields import USER
from jsctl.auth.records import USER_SCOPE, Json, get_signing_key
from jsctl.auth.settings import UserSettings
from jsctl.base.command_lines import build_line
from jsctl.commands.auth.user.flags import SECTIONS
from jsctl.commands.cli import command, option
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.picking.auth import of_signing_key, pick_operator_key
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import keys as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
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
async def edit(env: Env, options: Options) -> Result:
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
