"""The causes of failed connections, as errors. No error from here ever holds a secret."""

import re
import time

from jsctl.base.command_lines import build_line
from jsctl.base.units import format_time
from jsctl.contexts.model import strip_login
from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, JsctlError, LoginRefused, NoConnection, Unreachable
from jsctl.nats.addresses import ServerAddress
from jsctl.nats.codec import parse_error
from jsctl.nats.login import find_expiry
from jsctl.nats.proxy import ProxyFailure

RENEWING = "use new credentials"
"""What to do about a login that has expired."""


class NoTls(ConnectionError):
    """TLS was requested, and the server does not offer it."""


class NoGreeting(ConnectionError):
    """The server said nothing before it closed the connection."""


class NotNats(ConnectionError):
    """The server did not begin with INFO, as NATS servers do."""


class LoginUnanswered(ConnectionError):
    """The server ended the login of an account's user without a word, after a while.

    It looks for an account that it does not have for 1.9 s, and ends every login after 2 s (nats-server:
    accounts.go, DEFAULT_ACCOUNT_FETCH_TIMEOUT; const.go, AUTH_TIMEOUT): a busy one never says why.
    """


class TooManyConnections(Unreachable):
    """A reachable server has reached its limit of connections."""


def connection_error(error: BaseException, server: ServerAddress, settings: Settings) -> JsctlError:
    """Return the error to raise when a connection to one server failed."""
    if isinstance(error, JsctlError):
        return error
    server_error = parse_error(str(error))
    if isinstance(error, ProxyFailure):
        return _build_failure(server, describe_error(error), "check --socks-proxy")
    if server_error.is_authentication:
        if expired := _describe_expiry(settings):
            return Denied(f"{server.url} refuses the login: {expired}", RENEWING)
        return LoginRefused(
            f"{server.url} refuses the login: {describe_error(error)}",
            f"check user, password, token, creds or JWT; {build_line('context info')} shows what is set",
        )
    if server_error.is_limit:
        account = " of this account" * ("account" in server_error.text.lower())
        return TooManyConnections(
            f"{server.url} takes no more connections{account}: the maximum is reached",
            f"close some, or raise max_connections{account}",
        )
    if isinstance(error, TimeoutError):
        return _build_failure(
            server,
            "no answer in time",
            "check that it is a NATS server; --tlsfirst or --timeout may help",
        )
    if isinstance(error, NoTls):
        return Unreachable(
            f"TLS with {server.url} failed: the server has none", "use nats:// and leave the TLS flags out"
        )
    if failure := _explain_tls_failure(error, settings):
        reason, hint = failure
        return Unreachable(f"TLS with {server.url} failed: {reason}", hint)
    if isinstance(error, LoginUnanswered):
        return Denied(
            f"{server.url} ended the login without an answer: it does not find the account in time",
            f"{build_line('auth account push')} sends it; try again if it has the account",
        )
    if isinstance(error, NotNats):
        return Unreachable(f"{server.url} is not a NATS server")
    if isinstance(error, NoGreeting):
        return _build_failure(
            server,
            "the server closed the connection without a reason",
            "check that it is a NATS server; with handshake_first, it needs --tlsfirst",
        )
    if isinstance(error, (BrokenPipeError, ConnectionResetError)):
        return _build_failure(
            server,
            "the server closed the connection",
            "see its log; a server that verifies clients needs --tlscert and --tlskey",
        )
    hint = (
        f"{build_line('server run')} starts a local server"
        if _is_local(server)
        else "check the address, or --server"
    )
    return _build_failure(server, describe_error(error), hint, NoConnection)


def _build_failure(
    server: ServerAddress, reason: str, hint: str, kind: type[Unreachable] = Unreachable
) -> Unreachable:
    """Return the error of a connection that was not made, with the words that scripts look for."""
    return kind(f"cannot connect to {server.url}: {reason} (no servers available)", hint)


def _describe_expiry(settings: Settings) -> str:
    """Say since when a login has been expired; empty for one that is not."""
    expiry = find_expiry(settings)
    return f"its JWT expired at {format_time(expiry)}" if 0 < expiry <= time.time_ns() else ""


_UNTRUSTED = (18, 19, 20, 21)
"""OpenSSL's codes (x509_vfy.h) for certificates that no known authority has signed."""

_OTHER_NAMES = (62, 64)
"""OpenSSL's codes for certificates of other hosts."""

_REFUSED = "ALERT_(UNKNOWN_CA|ACCESS_DENIED|[A-Z_]*CERTIFICATE[A-Z_]*)"
"""Alerts of a server about the client's certificate (RFC 8446, 6.2)."""


def _explain_tls_failure(error: BaseException, settings: Settings) -> tuple[str, str] | None:
    """Return why a TLS handshake failed, and what to do; None for other errors."""
    from ssl import SSLCertVerificationError, SSLError  # plain connections do not need it

    if isinstance(error, SSLCertVerificationError):
        reason = describe_error(error).rstrip(".")
        if error.verify_code in _UNTRUSTED:
            return f"no known CA has signed the server's certificate ({reason})", "name its CA with --tlsca"
        if error.verify_code in _OTHER_NAMES:
            return reason, "connect to a name that is in the server's certificate"
        return reason, "check --tlsca, and the server's certificate"
    # With TLS 1.3, the server refuses a client's certificate after the handshake; a client that is still
    # writing then never reads it.
    if "CERTIFICATE_REQUIRED" in str(error):
        return "the server requires a client certificate", "name yours with --tlscert and --tlskey"
    if "[SSL: " in str(error) and (not isinstance(error, SSLError) or re.search(_REFUSED, str(error))):
        alert = str(error).partition("[SSL: ")[2].partition("]")[0].lower().replace("_", " ")
        return f"the server does not accept the client certificate ({alert})", "check --tlscert and --tlskey"
    if isinstance(error, SSLError):
        is_first = settings.tlsfirst
        hint = (
            "--tlsfirst is for servers that expect it" if is_first else "check --tlsca, --tlscert, --tlskey"
        )
        return describe_error(error), hint
    return None


def _is_local(server: ServerAddress) -> bool:
    return server.host in ("localhost", "::1") or server.host.startswith("127.")


def describe_error(error: BaseException) -> str:
    """Describe an error in a few words."""
    from ssl import SSLCertVerificationError, SSLError

    if isinstance(error, SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, SSLError):
        return (error.reason or "handshake failed").lower().replace("_", " ")
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, OSError) and error.strerror and not error.strerror.startswith("Multiple"):
        return error.strerror
    if isinstance(error, OSError) and "Connect call failed" in str(error):
        return "connection refused"
    return (str(error) or type(error).__name__).removeprefix("nats: ").strip("'\r\n ")


def choose_most_telling(failures: list[JsctlError], settings: Settings) -> JsctlError:
    """Return the most informative of several errors.

    A refused login says more than a server that cannot be reached.
    """
    telling = (Denied, TooManyConnections)
    chosen = next(
        (failure for kind in telling for failure in failures if isinstance(failure, kind)), failures[-1]
    )
    if len(failures) == 1 or isinstance(chosen, telling):
        return chosen
    return Unreachable(
        f"cannot connect to any of {strip_login(settings.url)}; the last: {chosen.message}", chosen.hint
    )
