"""Flags for command lines that jsctl suggests, so that they run in the same context and domain."""

from urllib.parse import unquote

from jsctl.commands.cli.global_flags import get_global_options
from jsctl.contexts.model import strip_login
from jsctl.env import Env

_PLACE = ("server", "creds", "nkey", "tlscert", "tlskey", "tlsca", "js_api_prefix", "js_domain", "context")


def list_place_flags(env: Env) -> list[str]:
    """Return the global flags of the command line that say where it works and as which user, without
    secrets; see `find_secret_variable`."""
    words = []
    for option in get_global_options():
        name = option.name or ""
        if name in _PLACE and _is_typed(env, name):
            value = str(env.flags[name])
            words += [option.opts[0], strip_login(value) if name == "server" else value]
    user, password = _read_login(env)
    words += ["--user", user] if user and password else []
    return [*words, "--no-context"] if env.flags.get("no_context") else words


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
