"""Checks of an operator (nats-io/jwt: v2/operator_claims.go; nats-io/nsc: cmd/validate.go)."""

from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from jsctl.auth.check.fixes import build_operator_line, build_owner_line
from jsctl.auth.check.model import Finding, find_owner
from jsctl.auth.check.repairs import build_service_flags
from jsctl.auth.check.tokens import check_token
from jsctl.auth.claims import as_text, as_texts
from jsctl.auth.environment import Environment
from jsctl.auth.keys import ACCOUNT, OPERATOR, find_key_kind
from jsctl.base.command_lines import build_line

_SCHEMES = ("nats", "tls", "ws", "wss")


def check_operator(environment: Environment, now: float) -> Iterator[Finding]:
    """Yield the problems of the operator itself. now: seconds since 1970."""
    operator = environment.operator
    owner = find_owner(operator)
    yield from check_token(operator, "operator", owner, now)
    if operator.doubt and operator.issuer != operator.public:
        yield owner.build_error(
            "operator-not-self-signed",
            "iss",
            f"the JWT {operator.doubt.reason}",
            build_operator_line(owner, "edit", "--accept-claims"),
        )
    url = as_text(operator.nats.get("account_server_url"))
    if url and not _split_url(url).scheme:
        yield owner.build_error(
            "operator-account-server",
            "account_server_url",
            f"account server URL {url!r} has no protocol",
            build_operator_line(owner, "edit", "--account-server", f"nats://{url}"),
        )
    urls = as_texts(operator.nats.get("operator_service_urls"))
    for index, url in enumerate(urls):
        if url and (reason := _find_service_url_problem(url)):
            yield owner.build_error(
                "operator-service",
                f"operator_service_urls[{index}]",
                f"service URL {url!r} {reason}",
                build_operator_line(owner, "edit", *build_service_flags(urls)),
            )
    for index, key in enumerate(operator.signing_keys):
        if find_key_kind(key) != OPERATOR:
            yield owner.build_error(
                "operator-signing-key",
                f"signing_keys[{index}]",
                f"{key!r} is not the public key of an operator",
                build_line("auth operator keys rm", owner.operator, key),
            )
    if operator.is_strict and not operator.signing_keys:
        yield owner.build_error(
            "operator-strict-without-keys",
            "strict_signing_key_usage",
            "only signing keys may sign, but the operator has none",
            build_line("auth operator keys add", owner.operator),
        )
    yield from _check_system_account(environment)
    if not is_version(as_text(operator.nats.get("assert_server_version"))):
        yield owner.build_error(
            "operator-server-version",
            "assert_server_version",
            "the required server version is not MAJOR.MINOR.PATCH",
            build_operator_line(owner, "edit", "--require-version", ""),
        )


def _check_system_account(environment: Environment) -> Iterator[Finding]:
    operator = environment.operator
    owner, system = find_owner(operator), operator.system_account
    if not system:
        return
    if find_key_kind(system) != ACCOUNT:
        yield owner.build_error(
            "operator-system-account",
            "system_account",
            f"the system account {system!r} is not the public key of an account",
            _build_system_account_line(environment),
        )
    elif environment.get_account(system) is None and environment.accounts:
        yield owner.build_warning(
            "operator-system-account-missing",
            "system_account",
            f"the system account {system} is not in the store",
            build_owner_line(owner, "account query", system, flags=["--save"]),
        )


def _build_system_account_line(environment: Environment) -> str:
    """Return the command line that sets the system account: to SYS or SYSTEM, else to a new one."""
    owner = find_owner(environment.operator)
    names = [account.name for account in environment.accounts]
    if name := next((name for name in names if name.upper() in ("SYS", "SYSTEM")), ""):
        return build_operator_line(owner, "edit", "--system-account", name)
    add = build_owner_line(owner, "account add", "SYSTEM", flags=["--defaults"])
    return f"{add} && {build_operator_line(owner, 'edit', '--system-account', 'SYSTEM')}"


def _find_service_url_problem(url: str) -> str:
    parts = _split_url(url)
    if parts.username is not None:
        return "contains credentials"
    if parts.path:
        return "has a path"
    if parts.scheme.lower() not in _SCHEMES:
        return "does not use the protocol nats, tls, ws or wss"
    return ""


def _split_url(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def is_version(text: str) -> bool:
    """Return whether a text is empty or a version, MAJOR.MINOR.PATCH."""
    numbers = text.split(".")
    return not text or (len(numbers) == 3 and all(number.isdigit() for number in numbers))
