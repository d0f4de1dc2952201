"""`jsctl auth why`."""

import ipaddress
import time
from dataclasses import dataclass
from pathlib import Path

import click

from jsctl.auth.check.permissions import CONNECTION_TYPES
from jsctl.auth.check.servers import add_servers_accounts, find_trust_problem
from jsctl.auth.environment import Environment, read_claims, read_environment
from jsctl.auth.records import Account, User
from jsctl.auth.store import extract_jwt
from jsctl.auth.why.answer import CONNECT, IMPORT, PUBLISH, SUBSCRIBE, Question, answer
from jsctl.auth.why.connecting import Visit
from jsctl.base.files import read_text
from jsctl.base.units import join_some
from jsctl.commands.auth.servers import ask_servers, servers_flags
from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import operator_option, pick_operator
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.nats.subjects import validate_subject
from jsctl.views.auth.why import why_result
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `why`."""

    user: str
    account: str
    operator: str
    pub: str
    sub: str
    queue: str
    imported: str
    host: str
    kind: str
    servers: bool
    as_system: bool

    def __post_init__(self) -> None:
        flags = [
            flag
            for flag, value in (("--pub", self.pub), ("--sub", self.sub), ("--import", self.imported))
            if value
        ]
        if len(flags) > 1:
            raise BadInput(f"{flags[0]} and {flags[1]} cannot be used together")
        if self.queue and not self.sub:
            raise BadInput("--queue is for subscriptions", "add --sub SUBJECT")
        if not self.user and (self.pub or self.sub or not self.imported):
            raise BadInput("the user is missing", "specify --user NAME")
        if not self.user and not self.account:
            raise BadInput("the account that imports is missing", "specify --account or --user")
        if self.host:
            try:
                ipaddress.ip_address(self.host)
            except ValueError:
                raise BadInput(f"{self.host!r} is not an IP address") from None

    @property
    def question(self) -> Question:
        if self.pub:
            return Question(PUBLISH, validate_subject(self.pub))
        if self.sub:
            return Question(SUBSCRIBE, validate_subject(self.sub, "subscribe to"), self.queue)
        if self.imported:
            return Question(IMPORT, validate_subject(self.imported, "subscribe to"))
        return Question(CONNECT)


@command(
    "why",
    examples=[
        "jsctl auth why --user alice --pub orders.new",
        "jsctl auth why --user alice --account ORDERS --sub 'orders.>' --queue workers",
        "jsctl auth why --account BILLING --import orders.new",
        "jsctl auth why --user alice",
        "jsctl auth why --user ./alice.creds --host 192.0.2.7",
    ],
)
@option("--user", metavar="NAME|FILE", default="", help="Name, public key or credentials file of the user")
@option("--account", metavar="ACCOUNT", default="", help="The account of the user, or the one that imports")
@option("--pub", metavar="SUBJECT", default="", help="Whether the user may publish to SUBJECT")
@option("--sub", metavar="SUBJECT", default="", help="Whether the user may subscribe to SUBJECT")
@option("--queue", metavar="GROUP", default="", help="Queue group of --sub")
@option("--import", "imported", metavar="SUBJECT", default="", help="Whether an import of SUBJECT works")
@option("--host", metavar="ADDRESS", default="", help="Connect from this IP address")
@option(
    "--kind",
    type=click.Choice(CONNECTION_TYPES, case_sensitive=False),
    default="STANDARD",
    help="Kind of the connection",
)
@servers_flags
@operator_option()
async def why(env: Env, options: Options) -> Result:
    """Decide as servers do, using the store: which rule of which claim allows or denies an action, where an
    import leads, and why a connection is refused with an Authorization Violation. With --servers, use the
    accounts that the servers have. The exit status is 1 if the answer is no.
    """
    question = options.question
    store = await pick_operator(env, options.operator)
    environment = read_environment(store.folders, store.operator)
    account, user = _find_user(environment, options)
    visit = Visit(time.time(), options.host, options.kind.upper())
    if options.servers:
        public = user.issuer_account if user else account.public if account else ""
        public_keys = [public, *(member.public for member in environment.accounts)]
        trusts, tokens = await ask_servers(env, store, public_keys, as_system=options.as_system)
        environment = add_servers_accounts(environment, tokens)
        account = environment.get_account(public)
        trust = f"no server has account {public}: it is not in the resolver"
        if account:
            trust = find_trust_problem(trusts, account.issuer)
        visit = visit._replace(trust=trust)
    return why_result(answer(environment, account, user, question, visit), with_servers=options.servers)


def _find_user(environment: Environment, options: Options) -> tuple[Account | None, User | None]:
    """Return the account and the user that the options name. Raises NotFound, BadInput."""
    if not options.user:
        return environment.find_account(options.account), None
    users = environment.find_users(options.user, options.account)
    if not users and ("/" in options.user or "." in options.user) and Path(options.user).is_file():
        user = _read_credentials(environment, options.user)
        return environment.get_account(user.issuer_account), user
    if not users:
        user_names = sorted({user.name for account in environment.accounts for user in account.users})
        raise NotFound(f"there is no user {options.user}", f"known users: {join_some(user_names) or 'none'}")
    if len(users) > 1:
        accounts = ", ".join(user.account for user in users)
        raise BadInput(f"accounts {accounts} have a user {options.user}", "select one with --account")
    return environment.find_account(users[0].account), users[0]


def _read_credentials(environment: Environment, path: str) -> User:
    """Return the user of a credentials file. Raises BadInput."""
    token = extract_jwt(read_text(Path(path)))
    claims = read_claims(token)
    if not claims:
        raise BadInput(f"{path} contains no user JWT", "use a credentials file")
    user = User(str(claims.get("name") or path), token, claims)
    account = environment.get_account(user.issuer_account)
    return User(user.name, token, claims, account=account.name if account else "", file=path)
