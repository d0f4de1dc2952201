"""The connection with which accounts are sent to servers and fetched: one of the system account."""

from dataclasses import replace
from typing import Any

from jsctl.auth.resolver import temporary_user
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
    settings = env.settings()
    if not env.flags.get("server") and not settings.context:
        urls = store.read_operator().nats.get("operator_service_urls") or ()
        settings = replace(settings, url=",".join(str(url) for url in urls) or settings.url)
    if as_system or not _has_login(settings):
        token, key = temporary_user(store)
        no_login: dict[str, Any] = dict.fromkeys(_LOGIN, "")
        settings = replace(settings, **no_login, jwt=token, seed=key.seed)
    return await env.connect(settings)


def _has_login(settings: Settings) -> bool:
    return any(getattr(settings, method) for method in METHODS) or "@" in settings.url
