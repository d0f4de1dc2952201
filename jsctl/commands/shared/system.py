"""Connections as users that the store of operators signs: of the system account, with which accounts are sent
to servers and fetched, and of others."""

from dataclasses import replace
from typing import Any

from jsctl.auth.keys import KeyPair
from jsctl.auth.records import Record
from jsctl.auth.resolver import temporary_user, temporary_user_of
from jsctl.auth.store import AuthStore
from jsctl.contexts.settings import METHODS, Settings
from jsctl.env import Env
from jsctl.nats.connection import Connection

_LOGIN = {setting for settings in METHODS.values() for setting in settings} - {"jwt", "seed"}


async def system_connection(env: Env, store: AuthStore, *, as_system: bool) -> Connection:
    """Connect as the command line and the context say.

    Without a login, or with as_system, as a temporary user of the system account that the store signs;
    without a server, to those of the operator. Raises NotFound without the seed of the system account.
    """
    settings = _with_servers(env, env.settings(), store)
    if as_system or not _has_login(settings):
        settings = _as_user(settings, *temporary_user(store))
    return await env.connect(settings)


async def account_connection(env: Env, settings: Settings, store: AuthStore, account: Record) -> Connection:
    """Connect as a temporary user of an account, to the servers of the settings, else to the operator's.

    Raises NotFound without the seed of the account, Denied where servers do not have it.
    """
    user = temporary_user_of(store, account)
    return await env.connect(_as_user(_with_servers(env, settings, store), *user))


def _with_servers(env: Env, settings: Settings, store: AuthStore) -> Settings:
    if env.flags.get("server") or settings.context:
        return settings
    urls = store.read_operator().nats.get("operator_service_urls") or ()
    return replace(settings, url=",".join(str(url) for url in urls) or settings.url)


def _as_user(settings: Settings, token: str, key: KeyPair) -> Settings:
    no_login: dict[str, Any] = dict.fromkeys(_LOGIN, "")
    return replace(settings, **no_login, jwt=token, seed=key.seed)


def _has_login(settings: Settings) -> bool:
    return any(getattr(settings, method) for method in METHODS) or "@" in settings.url
