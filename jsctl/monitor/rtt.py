"""Round-trip times to servers, address by address."""

import asyncio
import ipaddress
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from jsctl.contexts.model import strip_login
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.nats import login
from jsctl.nats.addresses import parse_addresses
from jsctl.nats.connection import Connection


@dataclass(slots=True)
class Address:
    """One address of a server.

    url: with its login. address: without it. host: the name to expect in its certificate when the address was
    looked up. connected: the URL of the server that answered. rtt: the mean in ns. time: when it was tried,
    ns since 1970.
    """

    url: str
    address: str
    host: str = ""
    rtt: int = 0
    connected: str = ""
    time: int = 0
    failure: JsctlError | None = None


@dataclass(slots=True)
class Target:
    """A server of the settings. url: without its login."""

    url: str
    addresses: list[Address] = field(default_factory=list)


async def measure_targets(
    settings: Settings, iterations: int, report_failure: Callable[[Address], None]
) -> list[Target]:
    """Return the servers of the settings with the mean of `iterations` pings to each of their addresses.

    report_failure: called with each of several addresses that failed. Raises BadInput, and the last failure
    when all failed.
    """
    targets = await _resolve_targets(settings)
    addresses = [address for target in targets for address in target.addresses]
    for address in addresses:
        await _measure(settings, address, iterations)
    failures = [address for address in addresses if address.failure]
    for address in failures if len(addresses) > 1 else ():
        report_failure(address)
    if failures and len(failures) == len(addresses) and failures[-1].failure:
        raise failures[-1].failure
    return targets


async def _resolve_targets(settings: Settings) -> list[Target]:
    """Return the servers of the settings with all addresses of their names. Raises BadInput."""
    settings = await login.prepare(settings)
    resolved = []
    parse_addresses(settings.url)  # raises for an invalid address
    for part in filter(None, map(str.strip, settings.url.split(","))):
        parts = urlsplit(part if "://" in part else f"nats://{part}")
        port = parts.port or 4222
        host = parts.hostname or ""
        target = Target(strip_login(parts.geturl()))
        for address in await _look_up(host, port):
            is_name = address != host
            target.addresses.append(_build_address(parts, address, port, host if is_name else ""))
        resolved.append(target)
    return resolved


def _build_address(parts: SplitResult, host: str, port: int, name: str) -> Address:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    user = parts.netloc.rpartition("@")[0]
    url = parts._replace(netloc=f"{user}@{address}" if user else address).geturl()
    return Address(url, f"{parts.scheme}://{address}", name)


async def _look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name; the name itself when it has none or is one."""
    try:
        ipaddress.ip_address(host)
        return [host]
    except ValueError:
        pass
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return [host]
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries)) or [host]


async def _measure(settings: Settings, address: Address, iterations: int) -> None:
    """Connect, ping `iterations` times, and record the mean in the address, or why it failed."""
    address.time = time.time_ns()
    try:
        connection = await Connection.open(
            settings._replace(url=address.url), reconnect=False, tls_hostname=address.host
        )
        try:
            total = sum([await connection.measure_rtt() for _ in range(iterations)])
            address.rtt, address.connected = total // iterations, connection.url
        finally:
            await connection.close()
    except JsctlError as error:
        address.failure = error
