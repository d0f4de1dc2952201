"""Connections as users that the store of operators signs: those of the system account, to send and fetch
accounts, and others.
"""

from typing import Any

from jsctl.auth.claims import as_object
from jsctl.auth.environment import read_claims
from jsctl.auth.keys import KeyPair
from jsctl.auth.records import Record
from jsctl.auth.resolver import make_system_user, make_temporary_user
from jsctl.auth.store import AuthStore, read_creds_jwt
from jsctl.base.user_folders import expand_home
from jsctl.contexts.settings import METHODS, Settings
from jsctl.env import Env
from jsctl.nats.connection import Connection

_LOGIN = {setting for settings in METHODS.values() for setting in settings} - {"jwt", "seed"}


async def connect_to_system(env: Env, store: AuthStore, *, as_system: bool) -> Connection:
    """Connect as the command line and the context say, or as a temporary user of the system account.

    The store signs that user without a login, with as_system, or if the selected context is of another
    account and the command line does not name one; without a server, the operator's servers are used. Raises
    NotFound without the seed of the system account.
    """
    settings = _with_servers(env, env.settings(), store)
    is_named = any(env.flags.get(name) for name in ("context", *METHODS))
    if as_system or not _has_login(settings) or (not is_named and _is_of_another_account(settings, store)):
        settings = _as_user(settings, *make_system_user(store))
    return await env.connect(settings)


async def connect_to_account(env: Env, settings: Settings, store: AuthStore, account: Record) -> Connection:
    """Connect as a temporary user of an account, to the servers of the settings, else to the operator's.

    Raises NotFound without the seed of the account, Denied when servers do not have it.
    """
    user = make_temporary_user(store, account)
    return await env.connect(_as_user(_with_servers(env, settings, store), *user))


def _with_servers(env: Env, settings: Settings, store: AuthStore) -> Settings:
    if env.flags.get("server") or settings.context:
        return settings
    urls = store.read_operator().nats.get("operator_service_urls") or ()
    return settings._replace(url=",".join(str(url) for url in urls) or settings.url)


def _as_user(settings: Settings, token: str, key: KeyPair) -> Settings:
    no_login: dict[str, Any] = dict.fromkeys(_LOGIN, "")
    return settings._replace(**no_login, jwt=token, seed=key.seed)


def _is_of_another_account(settings: Settings, store: AuthStore) -> bool:
    """Return whether a login belongs to an account other than the system account, whose seed is in the
    store.
    """
    token = settings.jwt
    if settings.creds and not token:
        token = read_creds_jwt(expand_home(settings.creds))
    claims = read_claims(token)
    account = as_object(claims.get("nats")).get("issuer_account") or claims.get("iss")
    system = store.read_operator().system_account
    stored_keys = {record.public for record in store.load_accounts()} if account else set()
    return account in stored_keys - {system} and store.has_seed(system)


def _has_login(settings: Settings) -> bool:
    return any(getattr(settings, method) for method in METHODS) or "@" in settings.url
