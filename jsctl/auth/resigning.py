"""Which key signs a user again, and what that does to its permissions: nothing is gained by it, and only what
the user is asked for is lost."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from jsctl.auth.changes import Change, find_signing_key, find_user_signer, leave_unchanged
from jsctl.auth.claims import find_revocation
from jsctl.auth.records import Account, Json, SigningKey, User, get_signing_key, list_signing_keys
from jsctl.auth.scopes import expand_template, find_missing_tags, find_own_permissions
from jsctl.auth.shapes import USER_PERMISSIONS
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.errors import BadInput

_LIMITS = ("subs", "data", "payload")
"""The limits that claims omit where they are 0."""


class Signing(NamedTuple):
    """How a user is signed.

    signer: the public key; empty for the same as before. role: the role that sets its permissions and limits;
    empty when it has its own. change: what the change of the key does to the claims. loses: the user's own
    permissions, which the role replaces.
    """

    signer: str = ""
    role: str = ""
    change: Change = leave_unchanged
    loses: bool = False


def needs_role(store: AuthStore, account: Account, user: User) -> bool:
    """Return whether the key that signed a user is gone, and its permissions, which were those of a role."""
    return not _may_sign(store, account, user.issuer) and not find_own_permissions(user.nats)


def plan_signing(store: AuthStore, account: Account, user: User, name: str) -> Signing:
    """Return how to sign a user again.

    name: the key or role to sign with; empty for the key that signed it, if it still may sign, or else one
    without a role. Permissions and limits are carried over from a role to a key without one. Raises NotFound,
    BadInput for a user whose permissions nobody knows any more.
    """
    before = get_signing_key(account.nats, user.issuer)
    if not name:
        if _may_sign(store, account, user.issuer):
            return Signing(role=before.role if before and before.scope else "")
        if not find_own_permissions(user.nats):
            raise BadInput(
                f"the key that signed user {user.name} is gone, and the permissions of its role with it",
                f"choose a role with --key{_list_roles(account)}",
            )
        return Signing(find_user_signer(store, account).public)
    after = None if name == account.public else find_signing_key(account, name)
    signer = find_user_signer(store, account, name).public
    if after and after.scope is not None:
        own = bool(find_own_permissions(user.nats))
        return Signing(signer, after.role or after.public, _drop_permissions, own)
    if before and before.scope is not None:
        return Signing(signer, "", _carry_over(account, user, before))
    return Signing(signer)


def list_wanted_tags(account: Account, user: User, signing: Signing) -> list[str]:
    """Return the names of the tags that the user's role needs and that the user does not have."""
    return find_missing_tags(account, _with_issuer(user, signing.signer or user.issuer))


def find_revoked_time(account: Account, user: User, now: int) -> int:
    """Return the time (seconds since 1970) from which JWTs of the user are valid again; 0 if those that are
    signed at `now` are."""
    revocations = account.nats.get("revocations") or {}
    key = find_revocation(revocations, user.public, now)
    return int(revocations[key]) + 1 if key else 0


def _may_sign(store: AuthStore, account: Account, issuer: str) -> bool:
    if issuer == account.public:
        return not store.read_operator().is_strict
    return get_signing_key(account.nats, issuer) is not None


def _list_roles(account: Account) -> str:
    roles = [key.role or key.public for key in list_signing_keys(account.nats) if key.scope is not None]
    if roles:
        return f": {', '.join(roles)}"
    return f"; {build_line('auth account keys add', account.name)} adds one"


def _drop_permissions(nats: Json) -> None:
    for key in USER_PERMISSIONS:
        nats.pop(key, None)
    nats.update({"pub": {}, "sub": {}})


def _carry_over(account: Account, user: User, key: SigningKey) -> Callable[[Json], None]:
    expanded = expand_template(account, _with_issuer(user, key.public))
    if expanded.problem:
        raise BadInput(
            f"role {key.role} gives user {user.name} no valid permissions: {expanded.problem}",
            "change the role, or the user's tags, first",
        )

    def change(nats: Json) -> None:
        nats.update({"pub": {}, "sub": {}, **dict.fromkeys(_LIMITS, 0), **expanded.claims})

    return change


def _with_issuer(user: User, issuer: str) -> User:
    return replace(user, claims={**user.claims, "iss": issuer})
