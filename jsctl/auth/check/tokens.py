"""What holds for every JWT: signature, kind, version, times (nats-io/jwt: v2/decoder.go, v2/claims.go)."""

from collections.abc import Iterator

from jsctl.auth.check.fixes import build_line, build_signing_line
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.claims import as_number, as_text
from jsctl.auth.environment import Claimed
from jsctl.auth.jwt import decode_header, is_signed
from jsctl.auth.keys import ACCOUNT, OPERATOR, find_key_kind
from jsctl.units import SECOND, format_time

VERSION = 2
"""The newest version of claims that servers read."""

MAX_TOKEN = 1 << 20
"""Maximum number of characters of a JWT."""

_ISSUERS = {"operator": (OPERATOR,), "account": (ACCOUNT, OPERATOR), "user": (ACCOUNT,)}


def check_token(claimed: Claimed, kind: str, owner: Owner, now: float) -> Iterator[Finding]:
    """Yield the problems of a JWT as such. kind: operator, account or user. now: seconds since 1970."""
    again = build_signing_line(owner)
    if len(claimed.token) > MAX_TOKEN:
        yield owner.build_error("token-size", "", f"the JWT has more than {MAX_TOKEN:,} characters", again)
    version = as_number(claimed.nats.get("version"))
    kind_of_claims = as_text(claimed.nats.get("type")) or as_text(claimed.claims.get("type"))
    if kind_of_claims != kind:
        yield owner.build_error(
            "token-type", "type", f"the JWT is of type {kind_of_claims or 'none'}, not {kind}", again
        )
    if version > VERSION:
        yield owner.build_error(
            "token-version",
            "version",
            f"the JWT is of version {version}, servers read {VERSION}",
            again,
        )
    elif version < VERSION:
        yield owner.build_warning("token-version", "version", f"the JWT is of version {version or 1}", again)
    if find_key_kind(claimed.public) != kind:
        yield owner.build_error(
            "token-subject", "sub", f"{claimed.public!r} is not the public key of a {kind}", again
        )
    if find_key_kind(claimed.issuer) not in _ISSUERS[kind]:
        yield owner.build_error(
            "token-issuer", "iss", f"{claimed.issuer!r} is not a key that signs a {kind}", again
        )
    elif version == VERSION and not (is_signed(claimed.token, claimed.issuer) and _is_header(claimed.token)):
        yield owner.build_error(
            "token-signature", "", "the signature is wrong: the JWT was changed or cut", again
        )
    yield from check_times(claimed, owner, now)


def check_times(claimed: Claimed, owner: Owner, now: float) -> Iterator[Finding]:
    """Yield the problems of a JWT's start and end. now: seconds since 1970."""
    again = build_signing_line(owner) + " --expiry <duration>"
    if not owner.account:
        again = build_line("operator", "import", "<file>")
    if 0 < claimed.expires < now:
        yield owner.build_error(
            "expired", "exp", f"the JWT expired at {format_time(claimed.expires * SECOND)}", again
        )
    if as_number(claimed.claims.get("nbf")) > now:
        yield owner.build_error("not-yet-valid", "nbf", "the JWT is not valid yet", build_signing_line(owner))


def _is_header(token: str) -> bool:
    header = decode_header(token)
    return (
        as_text(header.get("typ")).upper() == "JWT" and as_text(header.get("alg")).lower() == "ed25519-nkey"
    )
