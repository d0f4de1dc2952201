"""Operators, accounts and users as records of a store, and the parts of their claims.

Claims are the complete JSON of the JWT (nats-io/jwt: v2/operator_claims.go, account_claims.go,
user_claims.go). NATS's own claims are below `nats`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from jsctl.auth.claims import (
    as_number,
    as_object,
    as_objects,
    as_text,
    as_texts,
    map_signing_keys,
    set_or_drop,
)
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER
from jsctl.auth.shapes import CAPS
from jsctl.auth.signatures import Doubt

Json = dict[str, Any]

UNLIMITED = -1
USER_SCOPE = "user_scope"
"""The kind of a scoped signing key."""


@dataclass(frozen=True, slots=True)
class Record:
    """The owner of a JWT: an operator, account or user.

    name: the name of its files in the store, and in its claims. claims: the content of the JWT. doubt: why
    the JWT is not genuine, or that above it; None when it is.
    """

    name: str
    token: str
    claims: Json
    doubt: Doubt | None = None

    @property
    def public(self) -> str:
        """The public key that the claims are about."""
        return as_text(self.claims.get("sub"))

    @property
    def issuer(self) -> str:
        """The public key that signed the JWT."""
        return as_text(self.claims.get("iss"))

    @property
    def issued(self) -> int:
        """When it was signed, in seconds since 1970; 0 if unknown."""
        return as_number(self.claims.get("iat"))

    @property
    def expires(self) -> int:
        """The last second in which it is valid; 0 if it never expires."""
        return as_number(self.claims.get("exp"))

    @property
    def nats(self) -> Json:
        """The claims below `nats`."""
        return as_object(self.claims.get("nats"))

    @property
    def tags(self) -> list[str]:
        """The tags, lower case."""
        return as_texts(self.nats.get("tags"))


@dataclass(frozen=True, slots=True)
class Operator(Record):
    """An operator."""

    @property
    def signing_keys(self) -> list[str]:
        """The public keys of the operator's signing keys."""
        return as_texts(self.nats.get("signing_keys"))

    @property
    def is_strict(self) -> bool:
        """Whether only signing keys may sign, for accounts too."""
        return self.nats.get("strict_signing_key_usage") is True

    @property
    def system_account(self) -> str:
        """The public key of the system account; empty when there is none."""
        return as_text(self.nats.get("system_account"))

    def may_sign(self, issuer: str) -> bool:
        """Return whether servers accept an account that this key signed (nats-server:
        validateTrustedOperators)."""
        return issuer in self.signing_keys or (issuer == self.public and not self.is_strict)


@dataclass(frozen=True, slots=True)
class User(Record):
    """A user.

    account: the name of the account in the store. credentials: the JWT in the user's credentials file in the
    store; empty when there is no such file. file: the credentials file that the user was read from; empty for
    one of the store.
    """

    account: str = ""
    credentials: str = ""
    file: str = ""

    @property
    def issuer_account(self) -> str:
        """The public key of the account that the user's claims name."""
        return as_text(self.nats.get("issuer_account")) or self.issuer


@dataclass(frozen=True, slots=True)
class Account(Record):
    """An account. users: in the order of their names, where it is read with its users."""

    users: Sequence[User] = ()

    @property
    def exports(self) -> list[Json]:
        return as_objects(self.nats.get("exports"))

    @property
    def imports(self) -> list[Json]:
        return as_objects(self.nats.get("imports"))

    @property
    def limits(self) -> Json:
        return as_object(self.nats.get("limits"))

    @property
    def signing_keys(self) -> dict[str, Json | None]:
        """The signing keys, each with its scope; None for a key without one."""
        return map_signing_keys(self.nats)


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
    return [SigningKey(public, scope) for public, scope in map_signing_keys(nats).items()]


def get_signing_key(nats: Json, public: str) -> SigningKey | None:
    """Return the signing key with this public key; None when there is none."""
    return next((key for key in list_signing_keys(nats) if key.public == public), None)


def remove_signing_key(nats: Json, public: str) -> None:
    """Remove a signing key from the claims of an account or operator in place."""
    keys = nats.get("signing_keys") or []
    kept = [key for key in keys if public != (key.get("key") if isinstance(key, dict) else key)]
    set_or_drop(nats, "signing_keys", kept)


def remove_member(nats: Json, key: str, member: Json) -> None:
    """Remove an object from a list in the claims in place; remove the list, too, if it becomes empty."""
    set_or_drop(nats, key, [other for other in nats[key] if other is not member])


def has_jetstream(nats: Json) -> bool:
    """Return whether an account's claims let it use JetStream (nats-io/jwt: IsJSEnabled)."""
    limits = as_object(nats.get("limits"))
    tiers = as_object(limits.get("tiered_limits"))
    return any(map(_has_storage, map(as_object, tiers.values() or [limits])))


def _has_storage(limits: Json) -> bool:
    return bool(as_number(limits.get("mem_storage")) or as_number(limits.get("disk_storage")))


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
    limits: Json = {**dict.fromkeys(CAPS, UNLIMITED), "wildcards": True}
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
