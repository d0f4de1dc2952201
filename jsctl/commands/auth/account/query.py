"""`jsctl auth account query`."""

from dataclasses import dataclass

from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.auth.records import Record
from jsctl.auth.resolver import UNSEEN, compare, fetch_account_jwt, list_accounts
from jsctl.auth.shapes import check_shape
from jsctl.auth.store import AuthStore, check_name, require_genuine
from jsctl.base.command_lines import build_line
from jsctl.base.files import write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.operators.system import connect_to_system
from jsctl.commands.picking.auth import account_argument, operator_option, pick_account, pick_operator
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.monitor.server.requests import count_servers
from jsctl.nats.connection import Connection
from jsctl.views.auth import account as view
from jsctl.views.auth import push as changes_view
from jsctl.views.intent import file_intent
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    account: str
    output: str
    operator: str
    all: bool
    save: bool
    as_system: bool
    force: bool

    def __post_init__(self) -> None:
        if self.all and (self.account or self.output):
            raise BadInput("--all cannot be used with an account or a file", "leave out one of them")
        if self.all and not self.save:
            raise BadInput("--all needs --save", "add --save, or specify one account")


@command(
    "query",
    examples=[
        "jsctl auth account query ORDERS",
        "jsctl auth account query ORDERS orders.jwt",
        "jsctl auth account pull --all --save",
    ],
)
@account_argument()
@argument("output", default="")
@operator_option()
@option("--all", is_flag=True, help="All accounts that the servers have; with --save")
@option("--save", is_flag=True, help="Save to the store what the servers have")
@option(
    "--as-system", is_flag=True, help="Log in as a temporary user of the system account, not with the context"
)
@destructive("Replace accounts that are newer in the store")
async def query(env: Env, options: Options) -> Result:
    """Show an account as the servers have it. OUTPUT is a file to which its JWT is written.

    ACCOUNT may be the public key of an account that is not in the store.
    """
    store = await pick_operator(env, options.operator)
    public_keys: list[str] = []
    if not options.all:
        is_key = is_public_key(options.account, ACCOUNT)
        public_keys = [
            options.account if is_key else (await pick_account(env, store, options.account)).public
        ]
    connection = await connect_to_system(env, store, as_system=options.as_system)
    servers = await count_servers(connection)
    if options.all:
        public_keys = await list_accounts(connection, servers)
    fetched = [await _fetch_account(connection, store, public, servers) for public in public_keys]
    if options.output and env.dry_run:
        env.announce(file_intent(f"the JWT of {fetched[0].name}", expand_home(options.output), {}))
    if options.output:
        write_atomically(expand_home(options.output), fetched[0].token)
    if options.save:
        return changes_view.differences(_save(env, store, fetched, force=options.force), is_failure=False)
    return view.info_page(fetched[0])


async def _fetch_account(connection: Connection, store: AuthStore, public: str, servers: int) -> Record:
    token = await fetch_account_jwt(connection, public, servers)
    if not token:
        raise NotFound(f"no server has account {public}", f"{build_line('auth account push')} sends it")
    claims = check_shape(decode_jwt(token), ACCOUNT)
    name = str(claims.get("name") or public)
    return Record(name, token, claims, store.find_account_doubt(name, token, claims))


def _save(env: Env, store: AuthStore, fetched: list[Record], *, force: bool) -> list[changes_view.Difference]:
    for account in fetched:
        require_genuine(account)
    names = {account.public: account.name for account in store.load_accounts()}
    differences = []
    with store.locked():
        for account in fetched:
            name = names.get(account.public, account.name)
            check_name(name, ACCOUNT)
            if account.public not in names:
                if store.get_account_path(name).exists():
                    raise BadInput(
                        f"the store has another account {name}", "remove it, or use another --store"
                    )
                differences.append(changes_view.Difference(name, account.public, "added"))
            else:
                local = store.load_account(name)
                change = compare(Record(name, account.token, account.claims), local.token)
                if change.state == UNSEEN and not force:
                    raise BadInput(f"account {name} is newer in the store", "replace it with --force")
                state = "same" if change.state == "same" else "updated"
                differences.append(changes_view.Difference(name, account.public, state, change.changes))
            if not env.dry_run:
                store.write_account(name, account.token)
    env.announce(changes_view.save_intent(differences))
    return differences
