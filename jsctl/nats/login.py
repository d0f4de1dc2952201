"""From settings to a login: server addresses, credentials, TLS, proxy; and what a failure means.

No secret is ever in an error from here.
"""

import asyncio
import base64
import contextlib
import json
import re
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from jsctl.contexts.model import DEFAULT_URL, expand_path, public_url
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied, JsctlError, MissingDependency, Unreachable
from jsctl.units import SECOND

SCHEMES = ("nats", "tls", "ws", "wss")
_OP = "op://"  #: 1Password, as in the `nats` tool

# nkeys' ParseDecoratedJWT and ParseDecoratedNKey: PEM-like blocks, the JWT first.
_BLOCK = r"-{3,}\s*BEGIN [^-]*-{3,}\s*(\S+)\s*-{3,}\s*END [^-]*-{3,}"
_SEED = r"(?m)^S[A-Z][A-Z2-7]{50,}$"


class Server(NamedTuple):
    """One address: the URL without its login, and that login (a user alone is a token)."""

    url: str
    user: str = ""
    password: str | None = None


class Proxy(NamedTuple):
    """A SOCKS5 proxy."""

    host: str
    port: int
    username: str | None
    password: str | None


async def prepare(settings: Settings) -> Settings:
    """Settings with an `nsc` lookup carried out: its creds and servers stand in for missing ones.

    Raises BadInput, MissingDependency.
    """
    if not settings.nsc:
        return settings if settings.url else replace(settings, url=DEFAULT_URL)
    out = await _tool("nsc", ["generate", "profile", settings.nsc], settings)
    try:
        profile = json.loads(out)
        servers = ",".join((profile.get("operator") or {}).get("service") or [])
        creds = str(profile.get("user_creds") or "")
    except (ValueError, AttributeError, TypeError):
        raise BadInput(f"cannot read what nsc says of {settings.nsc}") from None
    return replace(
        settings, url=settings.url or servers or DEFAULT_URL, creds=settings.creds or creds, nsc=""
    )


async def carried(settings: Settings) -> Settings:
    """Settings that need no file and no tool of this machine: what these say goes along, in `files`.

    Raises BadInput, MissingDependency.
    """
    ready = await prepare(settings)
    files: dict[str, str] = {}
    if ready.creds.startswith(_OP):
        files[ready.creds] = await _from_op(ready)
    for path, what in (
        (ready.creds, "credentials file"),
        (ready.nkey, "nkey seed file"),
        (ready.tlsca, "CA certificate"),
        (ready.tlscert, "TLS certificate"),
        (ready.tlskey, "TLS key"),
    ):
        if path and path not in files:
            files[path] = _text(ready, path, what)
    return replace(ready, files=tuple(files.items()))


def servers(url: str) -> list[Server]:
    """The addresses in a comma separated list. Raises BadInput."""
    found = []
    for part in url.split(","):
        address = part.strip()
        if not address:
            continue
        address = address if "://" in address else f"nats://{address}"
        try:
            parts = urlsplit(address)
            usable = bool(parts.hostname) and parts.scheme in SCHEMES and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            # What is malformed may hold a password in a strange place.
            shown = repr(public_url(address)) if "@" not in url else "one of the server addresses"
            raise BadInput(
                f"{shown} is no server address",
                "use nats://host:port; %-encode what is special in a password",
            )
        public = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        password = None if parts.password is None else unquote(parts.password)
        found.append(Server(public, unquote(parts.username or ""), password))
    if not found:
        raise BadInput("the server address is empty", "use nats://host:port")
    if len({server.url.startswith("ws") for server in found}) > 1:
        raise BadInput("websocket and other server addresses cannot be mixed")
    return found


async def authentication(settings: Settings, server: Server) -> dict[str, Any]:
    """nats-py's options for a login. A login in the URL goes before user, token and nkey, and beside
    a JWT, as in the Go client. Raises BadInput."""
    options: dict[str, Any] = {}
    if server.user:
        if server.password is None:
            options["token"] = server.user
        else:
            options.update(user=server.user, password=server.password)
    elif settings.user:
        options.update(user=settings.user, password=settings.password)
    elif settings.token:
        options["token"] = settings.token
    if settings.creds:
        options.update(_signed(await _credentials(settings)))
    elif settings.jwt:
        options.update(_signed(lambda: (settings.jwt.strip(), settings.seed.strip())))
    elif settings.nkey and not options.get("user"):
        options["nkeys_seed_str"] = _nkey(settings)
    return options


def tls(settings: Settings, server: Server) -> dict[str, Any]:
    """nats-py's TLS options; none when TLS is the server's choice. Raises BadInput."""
    wanted = settings.tlscert or settings.tlskey or settings.tlsca or settings.tlsfirst
    if not wanted and not server.url.startswith(("tls:", "wss:")):
        return {}
    if bool(settings.tlscert) != bool(settings.tlskey):
        raise BadInput("a client certificate needs both --tlscert and --tlskey")
    with contextlib.ExitStack() as held:
        ca, certificate, key = (
            held.enter_context(_on_disk(settings, path, what)) if path else None
            for path, what in (
                (settings.tlsca, "CA certificate"),
                (settings.tlscert, "TLS certificate"),
                (settings.tlskey, "TLS key"),
            )
        )
        try:
            context = ssl.create_default_context(cafile=ca)
        except (ssl.SSLError, OSError):
            raise BadInput(f"{settings.tlsca} holds no CA certificate") from None
        if certificate:
            try:
                # An empty password, so that OpenSSL never asks on the terminal.
                context.load_cert_chain(certificate, key, password="")
            except (ssl.SSLError, OSError):
                raise BadInput(
                    f"{settings.tlscert} and {settings.tlskey} are no certificate with its key",
                    "both must be PEM, belong together, and the key be without a passphrase",
                ) from None
    return {"tls": context, "tls_handshake_first": settings.tlsfirst}


def proxy(url: str) -> Proxy:
    """The parts of a SOCKS5 proxy's URL. Raises BadInput."""
    try:
        parts = urlsplit(url if "://" in url else f"socks5://{url}")
        if parts.scheme in ("socks5", "socks5h") and parts.hostname:
            user, password = (unquote(part) if part else None for part in (parts.username, parts.password))
            return Proxy(parts.hostname, parts.port or 1080, user, password)
    except ValueError:
        pass
    raise BadInput("the proxy's address is not usable", "use --socks-proxy socks5://host:1080")


async def check(settings: Settings) -> Settings:
    """Look at everything that can be wrong before a server is asked. Raises JsctlError."""
    ready = await prepare(settings)
    for server in servers(ready.url):
        await authentication(ready, server)
        tls(ready, server)
    if ready.socks_proxy:
        proxy(ready.socks_proxy)
    return ready


def failure(error: BaseException, server: Server, settings: Settings) -> JsctlError:
    """What to tell about a connection to one server that did not come about."""
    if isinstance(error, JsctlError):
        return error
    text = str(error).lower()
    if settings.socks_proxy and "proxy" in text:
        return Unreachable(f"cannot connect to {server.url}: {reason(error)}", "check --socks-proxy")
    if "authorization" in text or "authentication" in text:
        return Denied(
            f"{server.url} refuses the login: {reason(error).lower()}",
            "check user, password, token, creds or JWT; jsctl context info shows what is set",
        )
    if isinstance(error, TimeoutError):
        return Unreachable(
            f"cannot connect to {server.url}: no answer in time",
            "is it a NATS server? --server, --tlsfirst or --timeout may help",
        )
    if "secure connection" in text:
        return Unreachable(
            f"TLS with {server.url} failed: the server has none", "use nats:// and leave the TLS flags out"
        )
    if isinstance(error, ssl.SSLError) or "certificate" in text:
        hint = (
            "--tlsfirst is for servers that expect it"
            if settings.tlsfirst
            else "check --tlsca, --tlscert, --tlskey"
        )
        return Unreachable(f"TLS with {server.url} failed: {reason(error)}", hint)
    if "expecting info" in text:
        return Unreachable(
            f"cannot connect to {server.url}: the server closed the connection without a word",
            "is it a NATS server? one with handshake_first needs --tlsfirst",
        )
    return Unreachable(
        f"cannot connect to {server.url}: {reason(error)}", "jsctl server run starts a local server"
    )


def reason(error: BaseException) -> str:
    """An error in a few words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError):
        return (error.reason or "handshake failed").lower().replace("_", " ")
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, OSError) and error.strerror and not error.strerror.startswith("Multiple"):
        return error.strerror
    if isinstance(error, OSError) and "Connect call failed" in str(error):
        return "connection refused"
    return (str(error) or type(error).__name__).removeprefix("nats: ").strip("'\r\n ")


def _signed(login: Callable[[], tuple[str, str]]) -> dict[str, Any]:
    """nats-py's callbacks for a JWT and its seed. A JWT without a seed is a bearer's: no signature."""
    last = login()
    key(last[1])

    def current() -> tuple[str, str]:
        # Credentials are read again at every reconnect; while a file is being replaced, the last hold.
        nonlocal last
        try:
            fresh = login()
            key(fresh[1])
            last = fresh
        except BadInput:
            pass
        return last

    def sign(nonce: str) -> bytes:
        pair = key(current()[1])
        return base64.b64encode(pair.sign(nonce.encode())) if pair else b""

    return {"user_jwt_cb": lambda: bytearray(current()[0].encode()), "signature_cb": sign}


async def _credentials(settings: Settings) -> Callable[[], tuple[str, str]]:
    if settings.creds.startswith(_OP) and not settings.files:
        text = await _from_op(settings)
        return lambda: _parse_credentials(text, settings.creds)
    return lambda: _parse_credentials(_text(settings, settings.creds, "credentials file"), settings.creds)


async def _from_op(settings: Settings) -> str:
    return (await _tool("op", ["read", settings.creds], settings)).decode(errors="replace")


def _parse_credentials(text: str, path: str) -> tuple[str, str]:
    blocks = re.findall(_BLOCK, text)
    if len(blocks) < 2:
        raise BadInput(f"{path} is no credentials file: it holds no user JWT with its seed")
    return blocks[0], blocks[1]


def _nkey(settings: Settings) -> str:
    path = settings.nkey
    text = _text(settings, path, "nkey seed file")
    blocks = re.findall(_BLOCK, text)
    seeds = [blocks[-1]] if blocks else re.findall(_SEED, text.replace("\r", ""))
    if not seeds:
        raise BadInput(f"{path} holds no nkey seed")
    key(seeds[0])
    return str(seeds[0])


def key(seed: str) -> Any:
    """Return the keys of a seed (`sign`, `public_key`), None for an empty seed.

    Raises BadInput, MissingDependency.
    """
    if not seed:
        return None
    try:
        from nkeys import from_seed
    except ImportError:  # on an executor of Spark, which jsctl was sent to
        raise MissingDependency(
            "PyNaCl is not installed, and this login signs with it",
            "run: pip install pynacl, on Spark with the Python of its executors",
        ) from None
    try:
        return from_seed(bytearray(seed.encode()))
    except Exception:  # nkeys raises its own errors, binascii's and ValueErrors that quote the seed
        raise BadInput("the user seed is not valid", "a user's seed starts with SU") from None


def _text(settings: Settings, path: str, what: str) -> str:
    if path in (known := dict(settings.files)):
        return known[path]
    try:
        return expand_path(path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise BadInput(f"{what} {path} does not exist") from None
    except OSError as error:
        raise BadInput(f"cannot read {what} {path}: {error.strerror}") from None


@contextlib.contextmanager
def _on_disk(settings: Settings, path: str, what: str) -> Iterator[str]:
    """The name of a file that can be read; of a copy, as long as it takes, where its text came along."""
    text = _text(settings, path, what)
    if not settings.files:
        yield str(expand_path(path))
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="jsctl-") as folder:  # for this user only
        copy = Path(folder, "pem")
        copy.write_text(text)
        yield str(copy)


async def _tool(name: str, args: list[str], settings: Settings) -> bytes:
    """The output of another tool. Raises MissingDependency, BadInput."""
    from shutil import which

    program = which(name)
    if not program:
        raise MissingDependency(f"{args[-1]} needs the {name} tool, which is not on PATH", f"install {name}")
    process = await asyncio.create_subprocess_exec(
        program, *args, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), settings.timeout / SECOND)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise BadInput(f"{name} did not answer in time for {args[-1]}") from None
    if process.returncode:
        lines = err.decode(errors="replace").strip().splitlines()
        raise BadInput(f"{name} failed for {args[-1]}: {lines[-1] if lines else 'no reason given'}")
    return out
