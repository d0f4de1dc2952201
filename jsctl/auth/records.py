"""Operators, accounts and users as records of a store, and the parts of their claims.

Claims are the complete JSON of the JWT (nats-io/jwt: v2/operator_claims.go, account_claims.go,
user_claims.go). NATS's own claims are below `nats`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jsctl.auth import claims
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER
from jsctl.auth.signatures import Doubt

Json = dict[str, Any]

KINDS = (OPERATOR, ACCOUNT, USER)
UNLIMITED = -1
USER_SCOPE = "user_scope"
"""The kind of a scoped signing key."""

_NO_LIMITS = ("subs", "data", "payload", "imports", "exports", "conn", "leaf")


class Record(NamedTuple):
    """An operator, account or user in a store.

    name: the name of its files, and in its claims. doubt: why the JWT is not genuine, or that above it; None
    when it is.
    """

    name: str
    token: str
    claims: Json
    doubt: Doubt | None = None

    @property
    def public(self) -> str:
        """The public key that the claims are about."""
        return str(self.claims.get("sub", ""))

    @property
    def issuer(self) -> str:
        """The public key that signed the claims."""
        return str(self.claims.get("iss", ""))

    @property
    def nats(self) -> Json:
        """The `nats` claims."""
        nats: Json = self.claims["nats"]
        return nats

    @property
    def tags(self) -> list[str]:
        """The tags, lower case."""
        return [str(tag) for tag in self.nats.get("tags") or ()]


class SigningKey(NamedTuple):
    """A signing key of an account. scope: its object in the claims; None for a plain key.

    A user that a scoped key signed has the permissions and limits of the scope's `template`.
    """

    public: str
    scope: Json | None = None

    @property
    def role(self) -> str:
        """The name of the scope; empty for a plain key."""
        return str((self.scope or {}).get("role") or "")

    @property
    def template(self) -> Json:
        """Permissions and limits of the scope's users."""
        template = (self.scope or {}).get("template")
        return template if isinstance(template, dict) else {}


def list_signing_keys(nats: Json) -> list[SigningKey]:
    """Return the signing keys of an account's or operator's claims, in their order."""
    return [SigningKey(public, scope) for public, scope in claims.map_signing_keys(nats).items()]


def get_signing_key(nats: Json, public: str) -> SigningKey | None:
    """Return the signing key with this public key; None when there is none."""
    return next((key for key in list_signing_keys(nats) if key.public == public), None)


def read_objects(nats: Json, key: str) -> list[Json]:
    """Return the objects of a list in the claims: `imports` or `exports`."""
    return [item for item in nats.get(key) or () if isinstance(item, dict)]


def remove_member(nats: Json, key: str, member: Json) -> None:
    """Remove an object from a list in the claims in place; remove the list, too, if it becomes empty."""
    nats[key][:] = [other for other in nats[key] if other is not member]
    if not nats[key]:
        del nats[key]


def find_local_subject(imported: Json) -> str:
    """Return the subject on which the importing account receives an import's messages.

    It is `local_subject`, else the deprecated `to`, else the exporter's subject. For a stream, `to` is a
    prefix; for a service, it is the exporter's subject.
    """
    if local := imported.get("local_subject"):
        return str(local)
    subject, to = str(imported.get("subject", "")), imported.get("to")
    if not to:
        return subject
    return subject if imported.get("type") == "service" else f"{to}.{subject}"


def has_jetstream(nats: Json) -> bool:
    """Return whether an account's claims let it use JetStream."""
    limits = nats.get("limits") or {}
    tiers = limits.get("tiered_limits") or {}
    return any(_has_storage(tier) for tier in (limits, *tiers.values()) if isinstance(tier, dict))


def _has_storage(limits: Json) -> bool:
    return bool(limits.get("mem_storage") or limits.get("disk_storage"))


def list_tiers(nats: Json) -> Iterator[tuple[str, Json]]:
    """Yield (tier, JetStream limits) of an account. Tiers are "R1", "R3", ...; "" is for all streams."""
    limits = nats.get("limits") or {}
    if _has_storage(limits):
        yield "", limits
    yield from sorted((limits.get("tiered_limits") or {}).items())


def build_operator() -> Json:
    """Return the `nats` claims of a new operator."""
    return {"type": OPERATOR, "version": 2}


def build_account(*, bearer: bool = False) -> Json:
    """Return the `nats` claims of a new account without limits and without JetStream. bearer: allow bearer
    tokens."""
    limits: Json = {**dict.fromkeys(_NO_LIMITS, UNLIMITED), "wildcards": True}
    return {
        "limits": limits if bearer else {**limits, "disallow_bearer": True},
        "default_permissions": {"pub": {}, "sub": {}},
        "authorization": {},
        "type": ACCOUNT,
        "version": 2,
    }


def build_user() -> Json:
    """Return the `nats` claims of a new user, without limits."""
    return {**build_permissions(), "type": USER, "version": 2}


def build_scoped_user() -> Json:
    """Return the `nats` claims of a new user that a scoped key signs, without permissions and limits."""
    return {"pub": {}, "sub": {}, "type": USER, "version": 2}


def build_permissions() -> Json:
    """Return the permissions and limits of a user, or of a scope's template, that allow everything."""
    return {"pub": {}, "sub": {}, "subs": UNLIMITED, "data": UNLIMITED, "payload": UNLIMITED}
