"""Checks of every JWT: signature, kind, version, times (nats-io/jwt: v2/decoder.go, v2/claims.go)."""

from collections.abc import Iterator

from jsctl.auth.check.fixes import build_edit_line
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.check.repairs import find_period
from jsctl.auth.claims import as_number, as_text
from jsctl.auth.keys import ACCOUNT, OPERATOR, find_key_kind
from jsctl.auth.records import Record
from jsctl.auth.signatures import find_signature_problem
from jsctl.base.units import SECOND, format_time

VERSION = 2
"""The newest version of claims that servers read."""

MAX_TOKEN = 1 << 20
"""Maximum number of characters of a JWT."""

_ISSUERS = {"operator": (OPERATOR,), "account": (ACCOUNT, OPERATOR), "user": (ACCOUNT,)}


def check_token(claimed: Record, kind: str, owner: Owner, now: float) -> Iterator[Finding]:
    """Yield the problems of any JWT. kind: operator, account or user. now: seconds since 1970."""
    fix = build_edit_line(owner, "--sign-again")
    accept = build_edit_line(owner, "--accept-claims")
    if len(claimed.token) > MAX_TOKEN:
        yield owner.build_error("token-size", "", f"the JWT has more than {MAX_TOKEN:,} characters", "")
    version = as_number(claimed.nats.get("version"))
    kind_of_claims = as_text(claimed.nats.get("type")) or as_text(claimed.claims.get("type"))
    if kind_of_claims != kind:
        yield owner.build_error(
            "token-type", "type", f"the type of the JWT is {kind_of_claims or 'missing'}, not {kind}", fix
        )
    if version > VERSION:
        yield owner.build_error(
            "token-version",
            "version",
            f"the JWT has version {version}, but servers read only up to {VERSION}",
            fix,
        )
    elif version < VERSION:
        yield owner.build_warning(
            "token-version", "version", f"the JWT has version {version or 1}, which is outdated", fix
        )
    if find_key_kind(claimed.public) != kind:
        yield owner.build_error(
            "token-subject", "sub", f"{claimed.public!r} is not the public key of a {kind}", ""
        )
    if find_key_kind(claimed.issuer) not in _ISSUERS[kind]:
        yield owner.build_error(
            "token-issuer", "iss", f"{claimed.issuer!r} is not a key that can sign a {kind}", accept
        )
    elif problem := find_signature_problem(claimed.token, claimed.issuer, version):
        yield owner.build_error("token-signature", "", f"the JWT {problem}", accept)
    if 0 < claimed.expires < now:
        renew = build_edit_line(owner, "--expiry", find_period(claimed.claims))
        yield owner.build_error(
            "expired", "exp", f"the JWT expired at {format_time(claimed.expires * SECOND)}", renew
        )
    if as_number(claimed.claims.get("nbf")) > now:
        yield owner.build_error("not-yet-valid", "nbf", "the JWT is not valid yet", fix)
