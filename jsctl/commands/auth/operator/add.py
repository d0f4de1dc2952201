"""`jsctl auth operator add`."""

from jsctl.auth.changes import SYSTEM_ACCOUNT, create_operator
from jsctl.auth.records import Json
from jsctl.auth.settings import change_tags, check_url
from jsctl.auth.store import AuthStore
from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import ask_name, operator_argument, read_choices
from jsctl.env import Env
from jsctl.views.auth import operator as view
from jsctl.views.result import Result


@command(
    "add", examples=["jsctl auth operator add ACME", "jsctl auth operator add ACME --tags prod --strict"]
)
@operator_argument()
@option("--service", metavar="URL", multiple=True, help="URLs of the operator's servers; may be repeated")
@option("--account-server", metavar="URL", default="", help="URL of the account server, nats:// or http://")
@option("--signing-key/--no-signing-key", default=True, help="Create a signing key, too (by default)")
@option("--strict", is_flag=True, help="Let only signing keys sign accounts and users")
@option(
    "--system-account", metavar="NAME", default=SYSTEM_ACCOUNT, help="Name of the system account (SYSTEM)"
)
@option("--tags", metavar="TAG", multiple=True, help="Tags of the operator; may be repeated")
async def add(
    env: Env,
    name: str,
    service: tuple[str, ...],
    account_server: str,
    signing_key: bool,
    strict: bool,
    system_account: str,
    tags: tuple[str, ...],
) -> Result:
    """Store the seeds of its keys in files that only you can read."""
    name = await ask_name(env, name, "operator")

    def change(nats: Json) -> None:
        change_tags(nats, tags, ())
        if urls := [check_url(url, "--service") for url in service if url]:
            nats["operator_service_urls"] = urls
        if account_server:
            nats["account_server_url"] = check_url(account_server, "--account-server")
        if strict:
            nats["strict_signing_key_usage"] = True

    store = AuthStore(read_choices(env).folders, name)
    create_operator(store, change, signing=signing_key or strict, system=system_account)
    return view.info_page(store)
