"""Flags for command lines that users are to run at the same place."""

from jsctl.commands.cli.global_flags import global_options
from jsctl.contexts.model import public_url
from jsctl.env import Env

_PLACE = ("server", "creds", "nkey", "tlscert", "tlskey", "tlsca", "js_api_prefix", "js_domain", "context")


def place_flags(env: Env) -> list[str]:
    """Return the global flags of the command line that say where it works, without secrets."""
    words = []
    for option in global_options():
        name = option.name or ""
        if name in _PLACE and name in env.flags and name not in env.from_environment:
            value = str(env.flags[name])
            words += [option.opts[0], public_url(value) if name == "server" else value]
    return [*words, "--no-context"] if env.flags.get("no_context") else words
