"""Server addresses: the URLs in a setting, each with the login that is part of it."""

import contextlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from socket import AF_INET, AF_INET6, inet_pton
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from jsctl.base.units import SECOND
from jsctl.errors import BadInput

SCHEMES = ("nats", "tls", "ws", "wss")


class ServerAddress(NamedTuple):
    """One address: the URL without its login, and that login (a user without a password is a token).

    tls_name: the name in the certificate of a server whose URL has a number; empty for the URL's own host.
    """

    url: str
    user: str = ""
    password: str | None = None
    tls_name: str = ""

    @property
    def host(self) -> str:
        """The host's name or number."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port, 4222 unless the URL has another."""
        return urlsplit(self.url).port or 4222

    @property
    def full_url(self) -> str:
        """The URL with its port."""
        parts = urlsplit(self.url)
        has_port = parts.port or parts.scheme.startswith("ws")
        return self.url if has_port else parts._replace(netloc=f"{parts.netloc}:4222").geturl()

    @property
    def tls_host(self) -> str:
        """The name that the server's certificate must have."""
        return self.tls_name if self.tls_name and _is_number(self.host) else self.host

    def list_others(self, info: Mapping[str, Any]) -> list["ServerAddress"]:
        """Return the other servers that this one names in its INFO; they accept the same login."""
        scheme = self.url.partition("://")[0]
        # A certificate holds host names, and servers often announce IP addresses.
        name = self.tls_name or self.host
        others = []
        for announced in info.get("connect_urls") or ():
            with contextlib.suppress(BadInput):
                others += [
                    self._replace(url=address.url, tls_name=name)
                    for address in parse_addresses(f"{scheme}://{announced}")
                ]
        return others


def parse_addresses(url: str) -> list[ServerAddress]:
    """Parse a list of addresses that are separated by commas. Raises BadInput."""
    addresses = []
    for part in url.split(","):
        address = part.strip()
        if not address:
            continue
        address = address if "://" in address else f"nats://{address}"
        is_valid = is_port_valid = False
        try:
            parts = urlsplit(address)
            is_valid = _is_host(parts.hostname or "") and parts.scheme in SCHEMES and not _is_mistyped(parts)
            is_port_valid = parts.port != 0
        except ValueError:
            pass
        if not (is_valid and is_port_valid):
            # A malformed address may hold a password anywhere.
            address_text = repr(part.strip()) if "@" not in url else "one of the server addresses"
            raise BadInput(
                f"the port of the server address {address_text} is not valid"
                if is_valid
                else f"{address_text} is not a valid server address",
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


def _is_mistyped(parts: SplitResult) -> bool:
    """Return whether an address has an empty port, or a path, which only websockets have: `htp:/foo`."""
    has_path = parts.path not in ("", "/") and not parts.scheme.startswith("ws")
    return parts.netloc.endswith(":") or has_path


def divide_timeout(addresses: Sequence[ServerAddress], timeout: int) -> Iterator[tuple[ServerAddress, float]]:
    """Yield each address with the seconds that connecting to it may take, within `timeout` ns for all of
    them: a server that hangs must leave time for those after it."""
    deadline = time.monotonic() + timeout / SECOND
    for number, address in enumerate(addresses):
        seconds_left = max(deadline - time.monotonic(), 0.1)
        addresses_after = len(addresses) - number - 1
        yield address, min(seconds_left / (addresses_after + 1), 2) if addresses_after else seconds_left


def _is_number(host: str) -> bool:
    """Return whether a host is an IP address."""
    return ":" in host or not host.strip("0123456789.")


def _is_host(host: str) -> bool:
    """Return whether a host can be an address or the name of one."""
    if _is_number(host):
        try:
            inet_pton(AF_INET6 if ":" in host else AF_INET, host.partition("%")[0])
        except OSError:
            return False
        return True
    return re.fullmatch(r"([\w-]{1,63}\.)*[\w-]{1,63}\.?", host) is not None
