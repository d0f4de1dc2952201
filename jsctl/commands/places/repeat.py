"""Flags for command lines that jsctl suggests, so that they run in the same context and domain."""

from collections.abc import Collection, Sequence
from urllib.parse import unquote

from jsctl.base.command_lines import build_flag
from jsctl.commands.cli.global_flags import get_global_options
from jsctl.contexts.model import strip_login
from jsctl.env import Env

_LOGIN = ("server", "creds", "nkey", "tlscert", "tlskey", "tlsca")
_PLACE = (*_LOGIN, "js_api_prefix", "js_domain", "context")

_LOCAL = ("cheat", "completion", "context", "demo", "errors", "schema", "server generate")
"""Verbs that ask no server, or start their own."""


def find_place_flags(env: Env, verb: str) -> list[str]:
    """Return the flags of the command line with which another verb works in the same place."""
    if verb.startswith("auth"):
        return build_flag("--store", env.flags["auth_store"]) if _is_typed(env, "auth_store") else []
    is_local = verb.startswith((*_LOCAL, "server network", "server run", "server stop"))
    return [] if is_local else list_place_flags(env)


def list_place_flags(env: Env) -> list[str]:
    """Return the global flags of the command line that say where it works and as which user, without
    secrets; see `find_secret_variable`. Of several contexts or domains, none is the place."""
    words = _list_typed(env, _PLACE)
    return [*words, "--no-context"] if env.flags.get("no_context") else words


def list_login_flags(env: Env) -> list[str]:
    """Return those of `list_place_flags` that name neither a context nor a domain."""
    return _list_typed(env, _LOGIN)


def warn_of_variables(env: Env, contexts: Collection[str]) -> None:
    """Warn of environment variables that hide contexts which were just written: a server or a login that goes
    before them, or another context that is the default."""
    variables = env.list_overriding_variables()
    if env.environ.get("NATS_CONTEXT") not in (None, "", *contexts):
        variables.append("NATS_CONTEXT")
    if variables:
        verb = "hides" if len(variables) == 1 else "hide"
        env.say(
            f"warning: {', '.join(variables)} {verb} what was started here; run: unset {' '.join(variables)}"
        )


def _list_typed(env: Env, names: Sequence[str]) -> list[str]:
    words = []
    for option in get_global_options():
        name = option.name or ""
        if name in names and _is_typed(env, name) and len(env.repeated.get(name, ())) < 2:
            value = str(env.flags[name])
            words += build_flag(option.opts[0], strip_login(value) if name == "server" else value)
    user, password = _read_login(env)
    return [*words, *(build_flag("--user", user) if user and password else [])]


def find_secret_variable(env: Env) -> str:
    """Return the environment variable for the secret that `list_place_flags` leaves out; empty for none."""
    user, password = _read_login(env)
    if _is_typed(env, "token") or (user and not password):
        return "NATS_TOKEN"
    return "NATS_PASSWORD" if user and "password" not in env.from_environment else ""


def _is_typed(env: Env, name: str) -> bool:
    return name in env.flags and name not in env.from_environment


def _read_login(env: Env) -> tuple[str, str]:
    """Return the user and the password on the command line, also those in --server."""
    user = str(env.flags["user"]) if _is_typed(env, "user") else ""
    password = str(env.flags.get("password") or "")
    if not user and _is_typed(env, "server"):
        login, at, _ = str(env.flags["server"]).split(",")[0].rpartition("://")[2].rpartition("@")
        user, _, password = map(unquote, login.partition(":")) if at else ("", "", "")
    return user, password
