"""Accounts on servers, sent, fetched and removed through the system account (nats-server: accounts.go,
DirAccResolver), and the configuration of such servers."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.auth.changes import find_operator_signer, find_user_signer
from jsctl.auth.claim_differences import find_claim_differences
from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.keys import USER, KeyPair, create_key
from jsctl.auth.records import Json, Operator, Record, build_user
from jsctl.auth.store import AuthStore
from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND, format_time
from jsctl.errors import BadInput, Denied, MalformedAnswer, NoResponders
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message
from jsctl.nats.replies import request_many

_NO_LISTENER = (
    "no server accepts accounts here",
    "log in to the system account or use --as-system; servers need a full resolver, which jsctl auth operator"
    " config configures",
)


_LOOKUPS = 16
"""Maximum number of concurrent requests for accounts."""


class Outcome(NamedTuple):
    """The reply of one server. error: why it refused; empty on success."""

    server: str
    error: str = ""


class Trust(NamedTuple):
    """The operator that a server trusts. keys: the server accepts accounts that these keys signed. issued:
    seconds since 1970."""

    server: str
    keys: frozenset[str]
    issued: int


async def fetch_trust(connection: Connection, expect: int) -> list[Trust]:
    """Return the operator that each server trusts. Raises Denied if the login is not of the system
    account."""
    trusts = []
    subject = "$SYS.REQ.SERVER.PING.VARZ"
    for message in await _request_all(connection, subject, b"", expect):
        reply = _parse(message, subject)
        for claims in (reply.get("data") or {}).get("trusted_operators_claim") or ():
            nats = claims.get("nats") or {}
            keys = {str(key) for key in nats.get("signing_keys") or ()}
            if not nats.get("strict_signing_key_usage"):
                keys.add(str(claims.get("sub")))
            trusts.append(Trust(_get_server_name(reply), frozenset(keys), int(claims.get("iat") or 0)))
    return trusts


async def push_account(connection: Connection, account: Record, expect: int) -> list[Outcome]:
    """Send an account to all servers. expect: the number of servers; 0 if unknown. Raises Denied."""
    subject = f"$SYS.REQ.ACCOUNT.{account.public}.CLAIMS.UPDATE"
    return await _send_token(connection, subject, account.token, expect)


async def fetch_account_jwts(connection: Connection, publics: Iterable[str], expect: int) -> dict[str, str]:
    """Return the result of `fetch_account_jwt` by public key, with several requests in flight."""
    semaphore = asyncio.Semaphore(_LOOKUPS)

    async def look_up(public: str) -> str:
        async with semaphore:
            return await fetch_account_jwt(connection, public, expect)

    keys = list(dict.fromkeys(publics))
    return dict(zip(keys, await asyncio.gather(*map(look_up, keys)), strict=True))


async def fetch_account_jwt(connection: Connection, public: str, expect: int) -> str:
    """Return the newest JWT of an account that servers have; empty when none has it. Raises Denied."""
    subject = f"$SYS.REQ.ACCOUNT.{public}.CLAIMS.LOOKUP"
    tokens = []
    for message in await _request_all(connection, subject, b"", expect):
        if message.data:
            tokens.append(message.data.decode(errors="replace"))
    return max(tokens, key=lambda token: int(decode_jwt(token).get("iat") or 0), default="")


async def list_accounts(connection: Connection, expect: int) -> list[str]:
    """Return the public keys of all accounts that servers have, sorted. Raises Denied."""
    subject = "$SYS.REQ.CLAIMS.LIST"
    keys: set[str] = set()
    for message in await _request_all(connection, subject, b"", expect):
        keys.update(str(key) for key in _parse(message, subject).get("data") or ())
    return sorted(keys)


async def list_foreign_accounts(connection: Connection, store: AuthStore, expect: int) -> list[str]:
    """Return the public keys of accounts that servers have and the store does not, sorted. Raises Denied."""
    stored = {account.public for account in store.load_accounts()}
    return [public for public in await list_accounts(connection, expect) if public not in stored]


async def delete_accounts(
    connection: Connection, store: AuthStore, publics: Sequence[str], expect: int
) -> list[Outcome]:
    """Remove accounts from all servers. Raises NotFound without a seed of the operator, Denied."""
    signer = find_operator_signer(store)
    claims = {"sub": signer.public, "name": "delete", "nats": {"accounts": list(publics), "type": "generic"}}
    return await _send_token(connection, "$SYS.REQ.CLAIMS.DELETE", encode_jwt(claims, signer), expect)


def make_system_user(store: AuthStore) -> tuple[str, KeyPair]:
    """Return the JWT and the key of a temporary user of the system account, only in memory. Raises
    NotFound."""
    system = _find_system_account(store.read_operator())
    return make_temporary_user(store, store.find_account(system))


def _find_system_account(operator: Operator) -> str:
    if not operator.system_account:
        raise BadInput(
            f"operator {operator.name} has no system account",
            "set it with jsctl auth operator edit --system-account",
        )
    return operator.system_account


def make_temporary_user(store: AuthStore, account: Record) -> tuple[str, KeyPair]:
    """Return the JWT and the key of a temporary user, only in memory. Raises NotFound, BadInput."""
    signer = find_user_signer(store, account)
    # Own permissions take precedence over the account's default permissions.
    nats = {**build_user(), "pub": {"allow": [">"]}, "sub": {"allow": [">"]}}
    if signer.public != account.public:
        nats["issuer_account"] = account.public
    key = create_key(USER)
    return encode_jwt({"sub": key.public, "name": "jsctl", "nats": nats}, signer), key


# -- differences ------------------------------------------------------------------------------------

SAME, NEW, CHANGED, UNSEEN, ONLY_THERE = "same", "new", "changed", "changed on servers", "only on servers"
REMOVED = "removed"


class Difference(NamedTuple):
    """How an account in the store differs from that on servers. state: SAME, NEW, ... changes: the claims
    that differ."""

    account: str
    public: str
    state: str
    changes: Sequence[str] = ()


def compare(account: Record, token: str, *, is_known: bool = True) -> Difference:
    """Compare an account with its JWT on servers. token: empty when they do not have the account.

    is_known: whether the store of the account has had that JWT. If not, somebody else changed the account.
    """
    if not token:
        return Difference(account.name, account.public, NEW)
    claims = decode_jwt(token)
    changes = find_claim_differences(account.claims, claims, beside=("name", "exp", "iss"), width=60)
    stored_at, served_at = int(account.claims.get("iat") or 0), int(claims.get("iat") or 0)
    if not changes and account.token == token:
        return Difference(account.name, account.public, SAME)
    if changes and (served_at > stored_at or not is_known):
        changes.insert(
            0, f"signed there {format_time(served_at * 10**9)}, here {format_time(stored_at * 10**9)}"
        )
        return Difference(account.name, account.public, UNSEEN, changes)
    return Difference(account.name, account.public, CHANGED, changes or ["signed again"])


# -- configuration ----------------------------------------------------------------------------------

MEMORY, FULL, CACHE = "memory", "full", "cache"


def build_server_config(store: AuthStore, resolver: str, folder: str, options: Mapping[str, Any]) -> Json:
    """Return the options of nats-server for an operator: its JWT, the system account and the resolver.

    resolver: MEMORY keeps all accounts in the configuration, FULL and CACHE in `folder`, which pushes fill.
    options: further options of the resolver. Raises NotFound, BadInput.
    """
    operator = store.read_operator()
    system = _find_system_account(operator)
    accounts = store.read_accounts()
    preload = {
        account.public: account.token
        for account in accounts
        if resolver == MEMORY or account.public == system
    }
    config: Json = {"operator": operator.token, "system_account": system}
    config["resolver"] = "MEMORY" if resolver == MEMORY else {"type": resolver, "dir": folder, **options}
    if resolver != CACHE:
        config["resolver_preload"] = preload
    return config


def format_config(config: Json, names: Mapping[str, str]) -> str:
    """Format options in the syntax of nats-server's configuration. names: of accounts, for comments."""
    lines = [f"operator: {config['operator']}", f"system_account: {config['system_account']}"]
    if sentinel := config.get("default_sentinel"):
        lines.append(f"default_sentinel: {sentinel}")
    lines.append("")
    resolver = config["resolver"]
    if isinstance(resolver, str):
        lines.append(f"resolver: {resolver}")
    else:
        lines += ["resolver: {", *(f"  {key}: {json.dumps(value)}" for key, value in resolver.items()), "}"]
    if preload := config.get("resolver_preload"):
        lines += ["", "resolver_preload: {"]
        for public, token in preload.items():
            lines += [f"  # {names.get(public, '')}", f"  {public}: {token}"]
        lines.append("}")
    return "\n".join(lines)


# -- requests ---------------------------------------------------------------------------------------


async def _request_all(connection: Connection, subject: str, data: bytes, expect: int) -> list[Message]:
    stall = SECOND if expect else SECOND // 4  # who is known to be there may be slow
    try:
        return await request_many(connection, subject, data, expect=expect, stall=stall)
    except NoResponders:
        raise Denied(*_NO_LISTENER) from None


def _parse(message: Message, subject: str) -> Json:
    try:
        reply = parse_json(message.data)
    except ValueError as error:
        raise MalformedAnswer(subject, str(error)) from None
    if not isinstance(reply, dict):
        raise MalformedAnswer(subject, "it is not an object")
    return reply


def _get_server_name(reply: Json) -> str:
    server = reply.get("server") or {}
    return str(server.get("name") or server.get("id") or "")


async def _send_token(connection: Connection, subject: str, token: str, expect: int) -> list[Outcome]:
    outcomes = []
    for message in await _request_all(connection, subject, token.encode(), expect):
        reply = _parse(message, subject)
        error, text = reply.get("error"), ""
        if isinstance(error, dict):
            text = str(error.get("description") or error.get("code") or "refused")
        outcomes.append(Outcome(_get_server_name(reply), text))
    return outcomes
