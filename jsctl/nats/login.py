"""The login that settings describe: credentials files, JWTs, nkeys, tokens and passwords.

No error from here ever holds a secret.
"""

import binascii
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import unquote

from jsctl.base import files
from jsctl.base.files import SEED
from jsctl.base.json_text import parse_json
from jsctl.base.loops import enter_event_loop
from jsctl.base.units import SECOND
from jsctl.contexts import schemes
from jsctl.contexts.model import expand_path, is_secret
from jsctl.contexts.schemes import DATA, ENV, FILE, NSC, Reference, parse
from jsctl.contexts.settings import DEFAULT_URL, SETTINGS, Settings
from jsctl.errors import BadInput, MissingDependency
from jsctl.nats.addresses import ServerAddress, parse_addresses
from jsctl.nats.proxy import parse_proxy
from jsctl.nats.setting_files import read_text
from jsctl.nats.tls import build_tls_options

Tool = Callable[[str, list[str]], Awaitable[bytes]]
"""Runs another program with arguments; returns its output."""


async def _resolve_references(
    settings: Settings, tool: Tool, nsc_creds: Callable[[str], Awaitable[str]]
) -> Settings:
    """Return settings in which references are replaced by the values that they stand for: in files,
    variables, 1Password, nsc or base64 (see contexts/schemes).

    The value of a reference in place of a file goes to `files`, under the reference. nsc_creds: returns the
    path of the credentials that nsc has for a user. Raises BadInput, MissingDependency.
    """
    changes: dict[str, str] = {}
    texts = dict(settings.files)
    for field, setting in SETTINGS.items():
        if not setting.may_refer:
            continue
        value: str = getattr(settings, field)
        reference = parse(value)
        if reference is None or value in texts:
            continue
        is_path = setting.kind == "path"
        if is_path and reference.scheme == FILE:
            changes[field] = _parse_path(reference)
        elif field == "creds" and reference.scheme == NSC:
            changes[field] = await nsc_creds(value)
        elif is_path:
            texts[value] = await _read_text(field, reference, tool)
        else:
            changes[field] = (await _read_text(field, reference, tool)).strip()
    if not changes and len(texts) == len(settings.files):
        return settings
    return settings._replace(**changes, files=tuple(texts.items()))  # type: ignore[arg-type]


async def _read_text(field: str, reference: Reference, tool: Tool) -> str:
    scheme, rest = reference
    if scheme == FILE:
        return files.read_text(expand_path(_parse_path(reference)), field, errors="replace")
    if scheme == ENV:
        if not (value := os.environ.get(rest, "")):
            raise BadInput(f"the variable {rest} is not set, but the context takes its {field} from there")
        return value
    if scheme == DATA:
        import base64  # only where it is needed: it takes 0.4 ms of a start

        try:
            return base64.b64decode(rest, validate=True).decode()
        except (binascii.Error, ValueError):
            raise BadInput(f"{field} is not valid base64 after {DATA}") from None
    if scheme == NSC:
        raise BadInput(f"{field} cannot come from nsc", "use nsc:// for creds")
    return (await tool("op", ["read", scheme + rest])).decode(errors="replace")


def _parse_path(reference: Reference) -> str:
    """Return the path of a file:// value: absolute, or `~` and variables as in other paths."""
    return unquote(reference.rest.removeprefix("localhost"))


# nkeys' ParseDecoratedJWT and ParseDecoratedNKey: PEM-like blocks, the JWT first.
_BLOCK = r"-{3,}\s*BEGIN [^-]*-{3,}\s*(\S+)\s*-{3,}\s*END [^-]*-{3,}"


async def prepare(settings: Settings) -> Settings:
    """Return settings in which references are replaced by their values, and missing creds and servers are
    those that `nsc` has.

    Raises BadInput, MissingDependency.
    """
    settings = await _resolve_references(
        settings,
        lambda name, args: _run_tool(name, args, settings),
        lambda user: _find_nsc_creds(user, settings),
    )
    if not settings.nsc:
        return settings if settings.url else settings._replace(url=DEFAULT_URL)
    servers, creds = await _fetch_nsc_profile(settings.nsc, settings)
    return settings._replace(
        url=settings.url or servers or DEFAULT_URL, creds=settings.creds or creds, nsc=""
    )


async def _find_nsc_creds(user: str, settings: Settings) -> str:
    """Return the path of the credentials that nsc has for a user."""
    _, creds = await _fetch_nsc_profile(user, settings)
    if not creds:
        raise BadInput(f"nsc has no credentials of {user}", "nsc generate creds writes them")
    return creds


async def _fetch_nsc_profile(user: str, settings: Settings) -> tuple[str, str]:
    """Return the servers and the path of the credentials that nsc has for a user."""
    output = await _run_tool("nsc", ["generate", "profile", user], settings)
    try:
        profile = parse_json(output)
        servers = ",".join((profile.get("operator") or {}).get("service") or [])
        return servers, str(profile.get("user_creds") or "")
    except (ValueError, AttributeError, TypeError):
        raise BadInput(f"cannot read the output of nsc for {user}") from None


async def with_files(settings: Settings) -> Settings:
    """Return settings that need no file and no tool of this machine: the texts of all files are in `files`.

    Raises BadInput, MissingDependency.
    """
    prepared = await prepare(settings)
    files = dict(prepared.files)
    for path, kind in (
        (prepared.creds, "credentials file"),
        (prepared.nkey, "nkey seed file"),
        (prepared.tlsca, "CA certificate"),
        (prepared.tlscert, "TLS certificate"),
        (prepared.tlskey, "TLS key"),
    ):
        if path and path not in files:
            files[path] = read_text(prepared, path, kind)
    return prepared._replace(files=tuple(files.items()))


Authenticate = Callable[[str], Mapping[str, str]]
"""Returns the fields of CONNECT with which a client logs in, for a server's nonce."""


def build_authentication(settings: Settings, server: ServerAddress) -> Authenticate:
    """Return the login. Raises BadInput.

    A login in the URL takes precedence over user, token and nkey, and is sent along with a JWT, as in the Go
    client.
    """
    fields: dict[str, str] = {}
    if server.user:
        if server.password is None:
            fields["auth_token"] = server.user
        else:
            fields |= {"user": server.user, "pass": server.password}
    elif settings.user:
        fields |= {"user": settings.user, "pass": settings.password}
    elif settings.token:
        fields["auth_token"] = settings.token
    sign: Authenticate = lambda nonce: {}  # noqa: E731
    if settings.creds:
        sign = _build_signer(_build_credentials_reader(settings))
    elif settings.jwt:
        sign = _build_signer(lambda: (settings.jwt.strip(), settings.seed.strip()))
    elif settings.nkey and "user" not in fields:
        seed = _read_nkey_seed(settings)
        public_key = parse_seed(seed).public_key.decode()
        sign = lambda nonce: {"nkey": public_key, "sig": _sign(seed, nonce)}  # noqa: E731
    return lambda nonce: {**fields, **sign(nonce)}


async def validate(settings: Settings) -> Settings:
    """Validate everything that can be wrong before a server is asked; return prepared settings.

    Raises JsctlError.
    """
    prepared = await prepare(settings)
    for server in parse_addresses(prepared.url):
        build_authentication(prepared, server)
        build_tls_options(prepared, server)
    if prepared.socks_proxy:
        parse_proxy(prepared.socks_proxy)
    return prepared


def find_expiry(settings: Settings) -> int:
    """Return when the JWT of a login expires, in ns since 1970; 0 for never, and for no readable JWT."""
    import base64

    try:
        jwt = settings.jwt.strip()
        if settings.creds:
            jwt = _parse_credentials(read_text(settings, settings.creds, "credentials file"), "")[0]
        payload = jwt.split(".")[1]
        claims = parse_json(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        expires = claims.get("exp", 0)
    except (BadInput, ValueError, IndexError, AttributeError):
        return 0
    return expires * SECOND if isinstance(expires, int) else 0


def _build_signer(read: Callable[[], tuple[str, str]]) -> Authenticate:
    """Return the login with a JWT and its seed. A JWT without a seed is a bearer token, which signs nothing.

    Credentials are read again for each connection; while a file is being replaced, the last ones apply.
    """
    last = read()
    parse_seed(last[1])

    def sign(nonce: str) -> Mapping[str, str]:
        nonlocal last
        try:
            latest = read()
            parse_seed(latest[1])
            last = latest
        except BadInput:
            pass
        return {"jwt": last[0], "sig": _sign(last[1], nonce)}

    return sign


def _sign(seed: str, nonce: str) -> str:
    import base64

    pair = parse_seed(seed)
    return base64.b64encode(pair.sign(nonce.encode())).decode() if pair else ""


def _build_credentials_reader(settings: Settings) -> Callable[[], tuple[str, str]]:
    path = settings.creds
    label = path if schemes.is_shown(path) or not is_secret(path) else "what the context has as creds"
    return lambda: _parse_credentials(read_text(settings, path, "credentials file"), label)


def _parse_credentials(text: str, path: str) -> tuple[str, str]:
    blocks = re.findall(_BLOCK, text)
    if len(blocks) < 2:
        raise BadInput(f"{path} is not a credentials file: it holds no user JWT with its seed")
    return blocks[0], blocks[1]


def _read_nkey_seed(settings: Settings) -> str:
    path = settings.nkey
    text = read_text(settings, path, "nkey seed file")
    path = path if not is_secret(path) else "what the context has as nkey"
    blocks = re.findall(_BLOCK, text)
    seeds = [blocks[-1]] if blocks else re.findall(rf"(?m)^{SEED}$", text.replace("\r", ""))
    if not seeds:
        raise BadInput(f"{path} holds no nkey seed")
    parse_seed(seeds[0])
    return str(seeds[0])


def parse_seed(seed: str) -> Any:
    """Return the key pair of a seed (`sign`, `public_key`), None for an empty seed.

    Raises BadInput, MissingDependency.
    """
    if not seed:
        return None
    try:
        from nkeys import from_seed
    except ImportError:  # on a Spark executor, to which jsctl was sent without its dependencies
        raise MissingDependency(
            "PyNaCl is not installed, and this login needs it to sign",
            "run: pip install pynacl, on Spark with the Python of its executors",
        ) from None
    try:
        return from_seed(bytearray(seed.encode()))
    except Exception:  # nkeys raises its own errors, binascii's and ValueErrors that quote the seed
        raise BadInput("the user seed is not valid", "a user's seed starts with SU") from None


async def _run_tool(name: str, args: list[str], settings: Settings) -> bytes:
    """Run another program; return its output. Raises MissingDependency, BadInput."""
    from shutil import which

    await enter_event_loop()
    import asyncio

    program = which(name)
    if not program:
        raise MissingDependency(f"{args[-1]} needs the {name} tool, which is not on PATH", f"install {name}")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        program, *args, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )
    try:
        async with asyncio.timeout(settings.timeout / SECOND):
            output, error_output = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise BadInput(f"{name} did not answer in time for {args[-1]}") from None
    if process.returncode:
        lines = error_output.decode(errors="replace").strip().splitlines()
        raise BadInput(f"{name} failed for {args[-1]}: {lines[-1] if lines else 'no reason given'}")
    return output
