"""The argument and the flag that choose a network."""

from collections.abc import Callable
from typing import Any

from jsctl.commands.cli import argument, option


def choose_network(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --network, for verbs whose arguments are parts of a network."""
    text = "The network, if there are several"
    return option("--network", "-n", metavar="NETWORK", default="", noun="network", help=text)(verb)


def network_argument(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Declare an argument that names a network; it may be left out if there is only one."""
    return argument("network", required=False, default="", metavar="[NETWORK]", noun="network")(verb)
