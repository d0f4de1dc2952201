"""Connections through a SOCKS5 proxy."""

import socket
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from jsctl.errors import BadInput

_NO_LIMIT = 3600.0  #: seconds; callers have limits of their own


class ProxyFailure(OSError):
    """The proxy cannot be reached, or refuses. The text has no secret in it."""


class Proxy(NamedTuple):
    """A SOCKS5 proxy."""

    host: str
    port: int
    username: str | None
    password: str | None


def parse_proxy(url: str) -> Proxy:
    """Parse the URL of a SOCKS5 proxy. Raises BadInput."""
    try:
        parts = urlsplit(url if "://" in url else f"socks5://{url}")
        if parts.scheme in ("socks5", "socks5h") and parts.hostname:
            user, password = (unquote(part) if part else None for part in (parts.username, parts.password))
            return Proxy(parts.hostname, parts.port or 1080, user, password)
    except ValueError:
        pass
    raise BadInput("the proxy's address is not valid", "use --socks-proxy socks5://host:1080")


async def connect(proxy: Proxy, host: str, port: int) -> socket.socket:
    """Connect to a host, which the proxy looks up. Raises ProxyFailure."""
    from python_socks import ProxyConnectionError, ProxyError, ProxyType
    from python_socks.async_.asyncio import Proxy as SocksProxy

    socks = SocksProxy(ProxyType.SOCKS5, *proxy, rdns=True)
    try:
        return await socks.connect(host, port, timeout=_NO_LIMIT)
    except ProxyError as error:
        raise ProxyFailure(f"the proxy says: {error}") from None
    except ProxyConnectionError:
        raise ProxyFailure(f"the proxy at {proxy.host}:{proxy.port} cannot be reached") from None
