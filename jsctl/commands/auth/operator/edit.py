"""`jsctl auth operator edit`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_operator
from jsctl.auth.check.operators import is_version
from jsctl.auth.claims import Json, set_or_drop
from jsctl.auth.keys import OPERATOR
from jsctl.auth.settings import change_tags, check_url, parse_expiry
from jsctl.auth.store import require_genuine
from jsctl.commands.cli import command, option
from jsctl.commands.operators.signing import SigningFlags, accept_claims, build_resigning, signing_flags
from jsctl.commands.picking.auth import expiry_option, operator_argument, pick_account, pick_operator
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import operator as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    name: str
    account_server: str | None
    service: tuple[str, ...]
    system_account: str
    strict: bool | None
    tags: tuple[str, ...]
    no_tags: tuple[str, ...]
    expiry: str
    require_version: str | None
    signing: SigningFlags


@command(
    "edit",
    examples=["jsctl auth operator edit ACME --service nats://n1:4222 --service nats://n2:4222 --strict"],
)
@operator_argument()
@option("--account-server", metavar="URL", default=None, help="URL of the account server; empty removes it")
@option("--service", metavar="URL", multiple=True, help="URLs of the operator's servers; empty removes them")
@option("--system-account", metavar="ACCOUNT", default="", help="Account to use as the system account")
@option("--strict/--no-strict", default=None, help="Let only signing keys sign accounts and users, or not")
@option("--tags", metavar="TAG", multiple=True, help="Tags to add; may be repeated")
@option("--no-tags", metavar="TAG", multiple=True, help="Tags to remove; may be repeated")
@expiry_option("the operator")
@option(
    "--require-version",
    metavar="VERSION",
    default=None,
    help="Oldest version of servers, MAJOR.MINOR.PATCH; empty removes it",
)
@signing_flags()
async def edit(env: Env, options: Options) -> Result:
    """Change what the flags name; other settings stay as they are. Servers need the operator's
    new JWT, which jsctl auth operator config prints.
    """
    store = await pick_operator(env, options.name, flag="NAME")
    operator = store.load_operator()
    accepted = await accept_claims(env, operator, options.signing)
    require_genuine(operator, accepted)
    claims = parse_expiry(options.expiry, env.clock())
    version = options.require_version
    if version and not is_version(version):
        raise BadInput(f"{version!r} is not a version", "use MAJOR.MINOR.PATCH, such as 2.11.0")
    system = ""
    if options.system_account:
        system = (await pick_account(env, store, options.system_account, doubted=bool(accepted))).public

    def change(nats: Json) -> None:
        change_tags(nats, options.tags, options.no_tags)
        if options.service:
            nats["operator_service_urls"] = [check_url(url, "--service") for url in options.service if url]
        if options.account_server is not None:
            nats["account_server_url"] = check_url(options.account_server, "--account-server")
        if system:
            nats["system_account"] = system
        if options.strict is not None:
            nats["strict_signing_key_usage"] = options.strict
        if version is not None:
            nats["assert_server_version"] = version
        for key in (
            "operator_service_urls",
            "account_server_url",
            "strict_signing_key_usage",
            "assert_server_version",
        ):
            set_or_drop(nats, key, nats.get(key))

    resigning = build_resigning(env, OPERATOR, store.operator, options.signing, accepted)
    changed = change_operator(store, change, claims, resigning)
    if changed.token == operator.token:
        env.inform(f"operator {store.operator} was not changed")
    return view.info_page(store)
