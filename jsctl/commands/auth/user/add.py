"""`jsctl auth user add`."""

from dataclasses import dataclass

from jsctl.auth.changes import check_new_user, create_user, find_signing_key, find_user_signer
from jsctl.auth.fields import USER
from jsctl.auth.keys import USER as USER_KEY
from jsctl.auth.keys import is_public_key
from jsctl.auth.records import build_scoped_user, build_user
from jsctl.auth.settings import UserSettings, parse_expiry
from jsctl.commands.auth.credentials import check_free, save_context, write_creds
from jsctl.commands.auth.user.flags import SECTIONS
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.picking.auth import expiry_option, of_account, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.prompts import auth as questions
from jsctl.views.auth import user as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    name: str
    account: str
    operator: str
    key: str
    public_key: str
    expiry: str
    credential: str
    save_context: str
    force: bool
    defaults: bool
    config: ConfigFlags
    tags: tuple[str, ...]


@command(
    "add",
    sections=SECTIONS,
    examples=[
        "jsctl auth user add alice ORDERS --defaults --credential alice.creds",
        "jsctl auth user add shipper ORDERS --pub-allow 'orders.>' --save-context shipper",
    ],
)
@argument("name")
@of_account
@option("--key", metavar="ROLE|KEY", default="", help="Signing key of the account, by its role or public key")
@option("--public-key", metavar="KEY", default="", help="Public key of a user who keeps the seed")
@expiry_option("the user", removable=False)
@config_flags(USER, "add")
@option("--tags", metavar="TAG", multiple=True, help="Tags to add; may be repeated")
@option("--credential", metavar="FILE", default="", help="Write the credentials to a file")
@option("--save-context", metavar="NAME", default="", help="Save a context that logs in as the user")
@destructive("Overwrite the file of --credential")
@option("--defaults", is_flag=True, help="Do not ask: limits without a flag are unlimited")
async def add(env: Env, options: Options) -> Result:
    """Apply the permissions and limits of its role to a user signed with a scoped key.

    With --save-context, --server is the server that the context connects to.
    """
    check_free(options.credential, force=options.force)
    if options.save_context:
        env.contexts.path(options.save_context)  # BadInput before anything is written
    if options.public_key and not is_public_key(options.public_key, USER_KEY):
        raise BadInput(f"{options.public_key!r} is not a public key of a user", "such keys start with U")
    if options.public_key and (options.credential or options.save_context):
        raise BadInput("credentials need the user's seed", "leave out --public-key")
    store, account = await pick_operator_account(env, options.operator, options.account)
    signer = find_user_signer(store, account, options.key)
    settings = UserSettings(options.config.values, options.tags)
    key = find_signing_key(account, options.key) if options.key not in ("", account.public) else None
    if key and key.scope is not None:
        settings.refuse_in_scope(key.role)
        nats = build_scoped_user()
    else:
        if env.can_ask and not options.defaults:
            settings = await questions.ask_user(env.prompter, env.say, settings)
        nats = build_user()
    settings.apply(nats)
    claims = parse_expiry(options.expiry, env.clock())
    check_new_user(store, account, options.name)
    facts = {"user": options.name, "account": account.name, "file": options.credential}
    env.announce(Intent(f"add user {options.name} to account {account.name}", facts))
    user = create_user(store, account, options.name, nats, signer, public=options.public_key, claims=claims)
    if options.credential:
        write_creds(store, user, options.credential)
    if options.save_context:
        save_context(env, store, account, user, options.save_context, options.credential)
    return view.info_page(user, account)
