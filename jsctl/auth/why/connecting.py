"""The checks by which a server accepts or refuses a user's connection, in its order (nats-server:
server/auth.go, processClientOrLeafAuthentication)."""

import ipaddress
from collections.abc import Iterator
from datetime import UTC, datetime, time, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from jsctl.auth.check.accounts import check_account
from jsctl.auth.check.fixes import build_edit_line, build_operator_line, build_owner_line
from jsctl.auth.check.model import Finding, Owner, find_owner
from jsctl.auth.check.permissions import CONNECTION_TYPES, is_zone, list_networks
from jsctl.auth.check.repairs import find_period
from jsctl.auth.check.users import check_user
from jsctl.auth.claims import Json, as_number, as_object, as_objects, as_text, as_texts, find_revocation
from jsctl.auth.environment import Environment
from jsctl.auth.records import Account, Record, User
from jsctl.auth.scopes import expand_template, find_scope
from jsctl.base.units import SECOND, format_time


class Check(NamedTuple):
    """A check of the server.

    problem: why it refuses the user; empty when it does not. path: the claim that decides. fix: the jsctl
    command line that fixes it; empty when none does.
    """

    name: str
    problem: str = ""
    where: str = ""
    path: str = ""
    fix: str = ""


class Visit(NamedTuple):
    """An attempt of a user to connect.

    now: seconds since 1970. host: an IP address; empty when it does not matter. kind: a connection type in
    capitals. trust: why the servers do not accept the account; empty when they do.
    """

    now: float
    host: str = ""
    kind: str = "STANDARD"
    trust: str = ""


_USER_CODES = {
    "the JWT of the user": (
        "token-signature",
        "token-type",
        "token-version",
        "token-subject",
        "token-issuer",
        "token-size",
        "not-yet-valid",
        "permission-subject",
        "user-source",
        "user-times",
        "user-locale",
    ),
    "the key that signed the user": ("user-issuer-account", "user-signer", "user-signed-by-identity"),
    "the role of the user": ("scoped-user-with-permissions", "scope-template"),
    "bearer tokens": ("bearer-disallowed",),
}


def explain_callout(account: Account, user: User) -> str:
    """Return a sentence about the callout that decides whether, and as which user, a user connects; empty if
    there is none."""
    users = as_texts(as_object(account.nats.get("authorization")).get("auth_users"))
    if not users or user.public in users:
        return ""
    names = [next((user.name for user in account.users if user.public == key), key) for key in users]
    return (
        f"the callout of {account.name} decides: servers ask the service that is connected as"
        f" {' or '.join(names)}, and refuse the user if the service does or if none is connected"
    )


def explain_connection(
    environment: Environment, account: Account | None, user: User, visit: Visit
) -> list[Check]:
    """Return the checks that a server makes when a user connects, up to the first that fails.

    account: the user's; None when the store does not have it.
    """
    checks: list[Check] = []
    for check in _make_checks(environment, account, user, visit):
        checks.append(check)
        if check.problem:
            break
    return checks


def _make_checks(
    environment: Environment, account: Account | None, user: User, visit: Visit
) -> Iterator[Check]:
    if account is None:
        where = f"user {user.name}"
        yield _check_expiry("the time of the JWT", "the JWT", user, where, 0 < user.expires < visit.now)
        if visit.trust:
            fix = build_owner_line(find_owner(environment.operator), "account push", flags=["--all"])
            yield Check("the account", visit.trust, f"user {user.name}", "issuer_account", fix)
            return
        reason = f"account {user.issuer_account} is not in the store, and servers may not have it either"
        yield Check("the account", reason, f"user {user.name}", "issuer_account")
        return
    where = f"user {account.name}/{user.name}"
    owner, account_owner = (find_owner(environment.operator, account, each) for each in (user, None))
    everything = list(check_user(environment, account, user, visit.now))
    findings = [finding for finding in everything if finding.severity == "error"]
    yield _build_check("the JWT of the user", findings)
    has_expired = 0 < user.expires < visit.now
    yield _check_expiry("the time of the JWT", "the JWT", user, where, has_expired, owner)
    yield _check_account_signer(environment, account, visit.now)
    fix = build_operator_line(find_owner(environment.operator), "config")
    yield Check("the operator of the servers", visit.trust, f"account {account.name}", "iss", fix)
    yield _build_check("the key that signed the user", findings)
    yield _build_check("the role of the user", findings)
    has_expired = 0 < account.expires <= visit.now
    name = f"account {account.name}"
    yield _check_expiry("the time of the account", "the account", account, name, has_expired, account_owner)
    yield _build_check("bearer tokens", findings)
    claims = user.nats if find_scope(account, user) is None else expand_template(account, user).claims
    kinds = [kind.upper() for kind in as_texts(claims.get("allowed_connection_types"))]
    known_kinds = [kind for kind in kinds if kind in CONNECTION_TYPES]
    refused = bool(kinds) and visit.kind not in known_kinds
    reason = f"connections of kind {visit.kind} are not allowed: {', '.join(kinds)}"
    yield Check("the kind of connection", reason * refused, where, "allowed_connection_types")
    key = find_revocation(account.nats.get("revocations"), user.public, user.issued)
    revoked_at = as_number(as_object(account.nats.get("revocations")).get(key)) if key else 0
    subject = "all users are" if key == "*" else "the user is"
    issued = format_time(user.issued * SECOND)
    reason = f"{subject} revoked as of {format_time(revoked_at * SECOND)}, and the JWT was signed at {issued}"
    fix = next((finding.fix for finding in everything if finding.code == "user-revoked"), "")
    yield Check("revocations", reason * bool(key), f"account {account.name}", f"revocations.{key}", fix)
    yield Check("the source address", _find_source_problem(claims, visit.host), where, "src")
    yield Check("the hours", _find_time_problem(claims, visit.now), where, "times")
    limit = account.limits.get("conn", 0)
    reason = "the account allows 0 connections" if limit == 0 else ""
    yield Check("the number of connections", reason, f"account {account.name}", "limits.conn")


def _build_check(name: str, findings: list[Finding]) -> Check:
    """Return the check `name`; it fails with the first finding that belongs to it."""
    for finding in findings:
        if finding.code in _USER_CODES[name]:
            return Check(name, finding.message, finding.where, finding.path, finding.fix)
    return Check(name)


def _check_expiry(
    name: str, what: str, claimed: Record, where: str, has_expired: bool, owner: Owner | None = None
) -> Check:
    """Return the check of the time until which a JWT is valid. owner: whose it is; None if the store does not
    have it, so that no command line repairs it."""
    if not has_expired:
        return Check(name)
    reason = f"{what} expired at {format_time(claimed.expires * SECOND)}"
    fix = build_edit_line(owner, "--expiry", find_period(claimed.claims)) if owner else ""
    return Check(name, reason, where, "exp", fix)


def _check_account_signer(environment: Environment, account: Account, now: float) -> Check:
    codes = ("account-signer", "account-signed-by-identity", "token-signature")
    for finding in check_account(environment, account, now):
        if finding.code in codes:
            return Check("the account", finding.message, finding.where, finding.path, finding.fix)
    return Check("the account")


def _find_source_problem(claims: Json, host: str) -> str:
    networks = list_networks(claims)
    if not networks or not host:
        return ""
    address = ipaddress.ip_address(host)
    if any(address in ipaddress.ip_network(network, strict=False) for network in networks):
        return ""
    return f"{host} is not in the networks {', '.join(networks)}"


def _find_time_problem(claims: Json, now: float) -> str:
    spans = as_objects(claims.get("times"))
    if not spans:
        return ""
    zone = as_text(claims.get("times_location"))
    zone_info: tzinfo | None = ZoneInfo(zone) if zone and zone != "Local" and is_zone(zone) else None
    moment = datetime.fromtimestamp(now, UTC).astimezone(zone_info)
    if any(_is_within(moment.time(), span) for span in spans):
        return ""
    hours = ", ".join(f"{as_text(span.get('start'))} to {as_text(span.get('end'))}" for span in spans)
    return f"it is {moment:%H:%M:%S}{f' in {zone}' if zone else ''}; the user may connect from {hours}"


def _is_within(now: time, span: Json) -> bool:
    try:
        start, end = (
            datetime.strptime(as_text(span.get(key)), "%H:%M:%S").time() for key in ("start", "end")
        )
    except ValueError:
        return False
    return start < now < end if start <= end else now > start or now < end
