"""What apply and diff share: files, variables, and the places that files name."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from jsctl.commands.cli import option
from jsctl.contexts.settings import Settings, resolve
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.files import read_input
from jsctl.jetstream.api import Api
from jsctl.jetstream.declared import load
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.plan import Target, gather_all
from jsctl.jetstream.declared.variables import parse_variables
from jsctl.nats.connection import Connection

F = TypeVar("F", bound=Callable[..., Any])

_EVERYWHERE = frozenset({"timeout", "colors"})
_ENDINGS = (".yaml", ".yml", ".json")


def file_flags(function: F) -> F:
    """-f and --var; the function gets them as `files` and `var`."""
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


def read(env: Env, files: tuple[str, ...], var: tuple[str, ...]) -> Declared:
    """What the files declare. Raises BadInput, NotFound."""
    found = [(path, read_input(path, env.streams.stdin)) for given in files for path in _paths(given)]
    return load.load([("stdin" if p == "-" else p, text) for p, text in found], parse_variables(var))


async def targets(env: Env, declared: Declared) -> dict[Place, Target]:
    """Every place with its API; one connection a context, opened at once."""
    named = {place.context for place in declared.places}
    explicit = "server" in env.flags and "server" not in env.from_environment
    if explicit and len(named) > 1:
        raise BadInput("--server goes with one context at the most", "each context has its own")
    settings = {name: _settings(env, name) for name in named}
    opened = dict(zip(settings, await connections(env, list(settings.values())), strict=True))
    return {
        place: _target(env, place, settings[place.context], opened[place.context])
        for place in declared.places
    }


async def connections(env: Env, wanted: Sequence[Settings]) -> list[Connection]:
    """The connection of each; those that differ in the domain alone share one. All are opened at once."""
    keys = [replace(one, js_domain="", js_api_prefix="", context="") for one in wanted]
    different = list(dict.fromkeys(keys))
    opened = dict(zip(different, await gather_all(env.connect(one) for one in different), strict=True))
    return [opened[key] for key in keys]


def _settings(env: Env, context: str) -> Settings:
    """A context that a file names is that one, whatever NATS_URL and the other variables say."""
    if not context:
        return env.settings()
    flags, variables = env.flags, env.from_environment
    own = {name: value for name, value in flags.items() if name not in variables or name in _EVERYWHERE}
    return resolve(own, env.contexts.find(context), variables)


def _target(env: Env, place: Place, settings: Settings, connection: Connection) -> Target:
    said = place.domain
    domain = settings.js_domain if said is None else said
    prefix = settings.js_api_prefix if said is None else ""
    api = Api(connection, domain=domain, prefix=prefix, trace=env.trace)
    return Target(api, settings.context, api.own_domain)


def _paths(given: str) -> list[str]:
    path = Path(given).expanduser()
    if given == "-" or not path.is_dir():
        return [given]
    found = sorted(
        str(one) for one in path.iterdir() if one.suffix in _ENDINGS and not one.name.startswith(".")
    )
    if not found:
        raise NotFound(f"there is no .yaml, .yml or .json file in {given}")
    return found
