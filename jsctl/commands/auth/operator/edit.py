"""`jsctl auth operator edit`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_operator
from jsctl.auth.records import Json
from jsctl.auth.settings import change_tags, check_url
from jsctl.commands.cli import command, option
from jsctl.commands.shared.pick_auth import operator_argument, pick_account, pick_operator
from jsctl.env import Env
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


@command(
    "edit",
    options=Options,
    examples=["jsctl auth operator edit ACME --service nats://n1:4222 --service nats://n2:4222 --strict"],
)
@operator_argument()
@option("--account-server", metavar="URL", default=None, help="URL of the account server; empty removes it")
@option("--service", metavar="URL", multiple=True, help="URLs of the operator's servers; empty removes them")
@option("--system-account", metavar="ACCOUNT", default="", help="Account to use as the system account")
@option("--strict/--no-strict", default=None, help="Let only signing keys sign accounts and users, or not")
@option("--tags", metavar="TAG", multiple=True, help="Tags to add; may be repeated")
@option("--no-tags", metavar="TAG", multiple=True, help="Tags to remove; may be repeated")
async def edit(env: Env, options: Options) -> Result:
    """Change what the flags name; other settings stay as they are. Servers need the operator's
    new JWT, which jsctl auth operator config prints.
    """
    store = await pick_operator(env, options.name, flag="NAME")
    system = ""
    if options.system_account:
        system = (await pick_account(env, store, options.system_account)).public

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
        for key in ("operator_service_urls", "account_server_url", "strict_signing_key_usage"):
            if not nats.get(key):
                nats.pop(key, None)

    before = store.read_operator().token
    if change_operator(store, change).token == before:
        env.say(f"operator {store.operator} was not changed")
    return view.sheet(store)
