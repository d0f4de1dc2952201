"""When the JWTs of a store expire."""

from collections.abc import Iterator
from typing import NamedTuple

from jsctl.auth.claims import as_number, as_text
from jsctl.auth.environment import Environment, read_claims


class Expiration(NamedTuple):
    """The expiry of a JWT. kind: operator, account, user, credentials or activation. expires: in seconds
    since 1970; 0 if it never expires."""

    kind: str
    account: str
    name: str
    public: str
    expires: int


def list_expirations(environment: Environment) -> list[Expiration]:
    """Return when each JWT expires, the next one first and those that never expire last."""
    expirations = list(_iterate_expirations(environment))
    return sorted(expirations, key=lambda expiration: (expiration.expires == 0, expiration.expires))


def _iterate_expirations(environment: Environment) -> Iterator[Expiration]:
    operator = environment.operator
    yield Expiration("operator", "", operator.name, operator.public, operator.expires)
    for account in environment.accounts:
        yield Expiration("account", account.name, account.name, account.public, account.expires)
        for imported in account.imports:
            if claims := read_claims(as_text(imported.get("token"))):
                subject, end = as_text(imported.get("subject")), as_number(claims.get("exp"))
                yield Expiration("activation", account.name, subject, as_text(claims.get("sub")), end)
        for user in account.users:
            yield Expiration("user", account.name, user.name, user.public, user.expires)
            if user.credentials and user.credentials != user.token:
                end = as_number(read_claims(user.credentials).get("exp"))
                yield Expiration("credentials", account.name, user.name, user.public, end)
