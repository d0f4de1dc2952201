"""The common parts of apply and diff: files, variables, and the contexts and domains that files name."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from jsctl.commands.cli import option
from jsctl.commands.shared.targets import FOR_ALL_CONTEXTS
from jsctl.contexts.settings import Settings, resolve
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.files import read_input
from jsctl.jetstream.api import Api
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.plan import Target
from jsctl.jetstream.declared.variables import Variables
from jsctl.nats.awaiting import gather_or_cancel
from jsctl.nats.connection import Connection
from jsctl.user_folders import expand_home

if TYPE_CHECKING:
    from jsctl.commands.shared.declared_accounts import AccountLogins
    from jsctl.commands.shared.declared_auth import DeclaredAuth

F = TypeVar("F", bound=Callable[..., Any])

_SUFFIXES = (".yaml", ".yml", ".json")


def file_flags(function: F) -> F:
    """Add -f, --var and --store; the function gets them as `files`, `var` and `store`."""
    function = option(
        "--store", metavar="DIR", default="", help="Folder for operators (that of nsc and nats auth)"
    )(function)
    function = option(
        "--var", multiple=True, metavar="NAME=VALUE", help="Value of a variable; may be repeated"
    )(function)
    return option(
        "--file",
        "-f",
        "files",
        multiple=True,
        required=True,
        metavar="FILE|DIR",
        help="File, folder of .yaml, .yml and .json files, or - for stdin; may be repeated",
    )(function)


def push_flags(function: F) -> F:
    """Add --push and --no-push; the function gets True, False or None as `push`."""
    text = (
        "Also send the accounts to servers, as jsctl auth account push does; the default if streams name one"
    )
    return option("--push/--no-push", default=None, help=text)(function)


def read_texts(env: Env, files: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return name and text of each file. files: the values of -f. Raises BadInput, NotFound."""
    paths = [path for file in files for path in _list_paths(file)]
    return [("stdin" if path == "-" else path, read_input(path, env.streams.stdin)) for path in paths]


def plan_operators(
    env: Env, texts: Sequence[tuple[str, str]], variables: Variables, store: str, *, prune: bool
) -> "DeclaredAuth | None":
    """Return the plan for the operators that files declare; None if they declare none. Raises BadInput."""
    if not any("operators" in text for _, text in texts):
        return None
    from jsctl.commands.shared.declared_auth import plan_auth

    return plan_auth(env, texts, variables, store, prune=prune)


async def ask_servers(
    env: Env,
    declared: Declared,
    auth: "DeclaredAuth | None",
    store: str,
    push: bool | None,
    *,
    is_planning: bool,
) -> "AccountLogins | None":
    """Find which declared accounts the servers lack, if accounts will be sent.

    Returns logins for the places that name an account; None if there are none.

    store, push: the values of the flags; places that name an account imply --push. Raises what connecting
    raises, JsctlError.
    """
    logins = _create_account_logins(env, declared, auth, store, is_planning=is_planning)
    if auth and (push or (push is None and logins)):
        await auth.open_pushes(env, is_planning=is_planning)
        if logins and is_planning:
            logins.lacking = auth.lacking
    return logins


def _create_account_logins(
    env: Env, declared: Declared, auth: "DeclaredAuth | None", store: str, *, is_planning: bool
) -> "AccountLogins | None":
    if not any(place.account for place in declared.places):
        return None
    from jsctl.auth.folders import find_store_folders
    from jsctl.commands.shared.declared_accounts import AccountLogins

    return AccountLogins(
        find_store_folders(env.environ, store), auth.operators if auth else (), is_planning=is_planning
    )


async def open_targets(env: Env, declared: Declared, logins: "AccountLogins | None") -> dict[Place, Target]:
    """Return every place with its API; one connection for each context and account, all opened at once.

    logins: for places that name an account. Raises BadInput.
    """
    contexts = {place.context for place in declared.places}
    explicit = "server" in env.flags and "server" not in env.from_environment
    if explicit and len(contexts) > 1:
        raise BadInput("--server can be used with at most one context", "each context has its own")
    settings = {context: _resolve_settings(env, context) for context in contexts}
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
        logged_in = await gather_or_cancel(
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
    return targets


async def open_connections(env: Env, settings: Sequence[Settings]) -> list[Connection]:
    """Open a connection for each of the settings, all at once; settings that differ only in the domain share
    one.
    """
    keys = [replace(place, js_domain="", js_api_prefix="", context="") for place in settings]
    distinct = list(dict.fromkeys(keys))
    connections = await gather_or_cancel(env.connect(key) for key in distinct)
    by_key = dict(zip(distinct, connections, strict=True))
    return [by_key[key] for key in keys]


def _resolve_settings(env: Env, context: str) -> Settings:
    """Return the settings of a context; NATS_URL and other variables do not override one that a file
    names.
    """
    if not context:
        return env.settings()
    flags, variables = env.flags, env.from_environment
    context_flags = {
        name: value for name, value in flags.items() if name not in variables or name in FOR_ALL_CONTEXTS
    }
    return resolve(context_flags, env.contexts.find(context), variables)


def _make_target(
    env: Env, place: Place, settings: Settings, connection: Connection, is_missing: bool
) -> Target:
    domain, prefix = place.domain, ""
    if domain is None:
        domain, prefix = settings.js_domain, settings.js_api_prefix
    api = Api(connection, domain=domain, prefix=prefix, trace=env.trace)
    domain = api.domain if is_missing else api.own_domain
    return Target(api, settings.context, domain, place.account, is_missing)


def _list_paths(file: str) -> list[str]:
    """Return the file itself, or the files of a folder. Raises NotFound for a folder without any."""
    folder = expand_home(file)
    if file == "-" or not folder.is_dir():
        return [file]
    paths = sorted(
        str(path) for path in folder.iterdir() if path.suffix in _SUFFIXES and not path.name.startswith(".")
    )
    if not paths:
        raise NotFound(f"there is no .yaml, .yml or .json file in {file}")
    return paths
