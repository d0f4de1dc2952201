"""The servers of the places that files name, and the connections to them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jsctl.base.loops import gather
from jsctl.contexts.model import name_place
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.jetstream.api import Api
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.identity import find_first_places
from jsctl.nats.connection import Connection

if TYPE_CHECKING:
    from jsctl.commands.declared.logins import AccountLogins


async def open_targets(env: Env, declared: Declared, logins: "AccountLogins | None") -> dict[Place, Target]:
    """Return every place with its API; one connection for each context and account, all opened at once.

    logins: for places that name an account. Raises BadInput.
    """
    settings = {place.context: env.settings(place.context) for place in declared.places}
    # A context whose places all name an account needs no login of its own.
    contexts_with_login = [
        context for context in settings if any(not p.account for p in declared.places if p.context == context)
    ]
    connections = await open_connections(env, [settings[context] for context in contexts_with_login])
    connections_by_login = {
        (context, ""): (connection, False)
        for context, connection in zip(contexts_with_login, connections, strict=True)
    }
    if logins:
        account_places = list(
            dict.fromkeys((place.context, place.account) for place in declared.places if place.account)
        )
        logged_in = await gather(
            logins.connect(env, settings[index], account) for index, account in account_places
        )
        connections_by_login.update(zip(account_places, logged_in, strict=True))
    targets = {
        place: _make_target(
            env, place, settings[place.context], *connections_by_login[place.context, place.account]
        )
        for place in declared.places
    }
    for place, target in targets.items():
        if place.account and logins and not target.is_missing:
            await logins.wait(target.api, place.account)
    for place in declared.places:
        where = name_place(settings[place.context].at(place.domain))
        account = f"account {place.account}" if place.account else ""
        env.note_place(" ".join(filter(None, (where if place.context or not account else "", account))))
    present = [place for place, target in targets.items() if not target.is_missing]
    numbers = await find_first_places([targets[place].api for place in present])
    keys = dict(zip(present, numbers, strict=True))
    return {
        place: target._replace(key=keys.get(place, len(present) + number))
        for number, (place, target) in enumerate(targets.items())
    }


async def open_connections(env: Env, settings: Sequence[Settings]) -> list[Connection]:
    """Open a connection for each of the settings, all at once; settings that differ only in the domain share
    one.
    """
    keys = [place._replace(js_domain="", js_api_prefix="", context="") for place in settings]
    distinct = list(dict.fromkeys(keys))
    connections = await gather(env.connect(key) for key in distinct)
    by_key = dict(zip(distinct, connections, strict=True))
    return [by_key[key] for key in keys]


def _make_target(
    env: Env, place: Place, settings: Settings, connection: Connection, is_missing: bool
) -> Target:
    there = settings.at(place.domain)
    api = Api(connection, domain=there.js_domain, prefix=there.js_api_prefix, trace=env.trace)
    domain = api.domain if is_missing else api.own_domain
    return Target(api, settings.context, domain, place.account, is_missing)
