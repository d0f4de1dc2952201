"""`jsctl server network shell` and `env`: the contexts of a network for other programs."""

import os
import shlex
from collections.abc import Mapping

from jsctl.commands.cli import command
from jsctl.commands.server.network.choose import network_argument
from jsctl.contexts.environment import forget_secrets
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.localserver import identities
from jsctl.localserver.networks import VARIABLE, LocalNetwork, build_label, find_network
from jsctl.views.result import Result, Text


def _list_variables(network: LocalNetwork, environ: Mapping[str, str]) -> dict[str, str]:
    return {**identities.list_variables(network.folder), VARIABLE: build_label(network, environ)}


@command("env", examples=["jsctl server network env hub-leaf"])
@network_argument
async def env_(env: Env, network: str) -> Result:
    """Use it in a shell: eval "$(jsctl server network env NETWORK)". The contexts of the network are then the
    only ones that jsctl and nats see, and its operator the one that jsctl auth, jsctl apply and nsc use.
    """
    variables = _list_variables(find_network(env.environ, network), env.environ)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return Result([Text("\n".join(lines), whole=True)], data=variables)


@command("shell", examples=["jsctl server network shell hub-leaf"])
@network_argument
async def shell(env: Env, network: str) -> None:
    """Open your shell with the contexts of the network, and no others. The first is selected. jsctl auth,
    jsctl apply and nsc use the operator of the network, if it has one.
    """
    if env.is_embedded:
        raise BadInput("another program cannot become your shell", "server network env prints its variables")
    local = find_network(env.environ, network)
    program = env.environ.get("SHELL") or "/bin/sh"
    environ = {**env.environ, **_list_variables(local, env.environ)}
    forget_secrets(environ)
    environ.pop("NATS_CONTEXT", None)
    environ.pop("NATS_URL", None)
    env.inform(f"this shell has the contexts of network {local.state.name}; exit leaves it")
    env.streams.stdout.flush()
    try:
        os.execve(program, [program], environ)
    except OSError as error:
        raise JsctlError(f"cannot run {program}: {error.strerror}", "set SHELL to a shell") from None
