"""Server addresses: the URLs in a setting, each with the login that is part of it."""

import re
import time
from collections.abc import Iterator, Sequence
from socket import AF_INET, AF_INET6, inet_pton
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from jsctl.contexts.model import strip_login
from jsctl.errors import BadInput
from jsctl.units import SECOND

SCHEMES = ("nats", "tls", "ws", "wss")


class ServerAddress(NamedTuple):
    """One address: the URL without its login, and that login (a user without a password is a token).

    tls_name: the name in the certificate of a server whose URL has a number; empty for the URL's own host.
    """

    url: str
    user: str = ""
    password: str | None = None
    tls_name: str = ""


def parse_addresses(url: str) -> list[ServerAddress]:
    """Parse a list of addresses that are separated by commas. Raises BadInput."""
    addresses = []
    for part in url.split(","):
        address = part.strip()
        if not address:
            continue
        address = address if "://" in address else f"nats://{address}"
        has_place = has_port = False  # that can be used
        try:
            parts = urlsplit(address)
            has_place = _is_host(parts.hostname or "") and parts.scheme in SCHEMES
            has_port = parts.port != 0
        except ValueError:
            pass
        if not (has_place and has_port):
            # What is malformed may hold a password in a strange place.
            shown = repr(strip_login(address)) if "@" not in url else "one of the server addresses"
            raise BadInput(
                f"the port of the server address {shown} is not valid"
                if has_place
                else f"{shown} is not a valid server address",
                "use nats://host:port; percent-encode special characters in a password",
            )
        public = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        password = None if parts.password is None else unquote(parts.password)
        addresses.append(ServerAddress(public, unquote(parts.username or ""), password))
    if not addresses:
        raise BadInput("the server address is empty", "use nats://host:port")
    if len({address.url.startswith("ws") for address in addresses}) > 1:
        raise BadInput("websocket and other server addresses cannot be mixed")
    return addresses


def divide_timeout(addresses: Sequence[ServerAddress], timeout: int) -> Iterator[tuple[ServerAddress, float]]:
    """Yield each address with the seconds that it may take, within `timeout` ns for all of them: a server
    that hangs must leave time for those after it."""
    deadline = time.monotonic() + timeout / SECOND
    for number, address in enumerate(addresses):
        left = max(deadline - time.monotonic(), 0.1)
        others = len(addresses) - number - 1
        yield address, min(left / (others + 1), 2) if others else left


def _is_host(host: str) -> bool:
    """Return whether a host can be an address or the name of one."""
    if ":" in host or not host.strip("0123456789."):
        try:
            inet_pton(AF_INET6 if ":" in host else AF_INET, host.partition("%")[0])
        except OSError:
            return False
        return True
    return re.fullmatch(r"([\w-]{1,63}\.)*[\w-]{1,63}\.?", host) is not None
