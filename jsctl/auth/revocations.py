"""Revocations of users and of activation tokens (nats-io/jwt: v2/revocation_list.go).

A revocation invalidates JWTs that were signed at or before its time. Its key is the public key of a user, or
of the account that an activation is for; `*` stands for all.
"""

from typing import NamedTuple

from jsctl.auth.claims import ALL, as_objects, set_or_drop
from jsctl.auth.keys import ACCOUNT, USER, is_public_key
from jsctl.auth.records import Json, Record
from jsctl.auth.sharing import find_export
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.errors import BadInput, NotFound


class Revocation(NamedTuple):
    """A revocation. export: the subject whose activation tokens are revoked; empty for users. time: seconds
    since 1970."""

    export: str
    key: str
    time: int


def list_revocations(nats: Json) -> list[Revocation]:
    """Return the revocations of an account: those of users, then those of activations, by export."""
    users = [Revocation("", key, int(time)) for key, time in sorted((nats.get("revocations") or {}).items())]
    activations = [
        Revocation(str(export.get("subject", "")), key, int(time))
        for export in as_objects(nats.get("exports"))
        for key, time in sorted((export.get("revocations") or {}).items())
    ]
    return users + activations


def find_key(store: AuthStore, account: Record, name: str, *, of_export: bool) -> str:
    """Return the public key of a user or (of_export) an account by name; keys and `*` are returned unchanged.

    Raises NotFound, BadInput.
    """
    if name == ALL or is_public_key(name, ACCOUNT if of_export else USER):
        return name
    if is_public_key(name):
        raise BadInput(
            f"{name} is another kind of key", f"use the key of {'an account' if of_export else 'a user'}"
        )
    return (store.find_account(name) if of_export else store.read_user(account.name, name)).public


def add_revocation(nats: Json, revocation: Revocation, account: str) -> None:
    """Add a revocation in place, unless there is one with a later time. Raises NotFound for an unknown
    export."""
    owner = find_export(nats, revocation.export, account) if revocation.export else nats
    revocations = owner.get("revocations") or {}
    time = max(revocation.time, int(revocations.get(revocation.key) or 0))
    owner["revocations"] = {**revocations, revocation.key: time}


def remove_revocation(nats: Json, export: str, key: str, account: str) -> None:
    """Remove a revocation in place. Raises NotFound."""
    owner = find_export(nats, export, account) if export else nats
    revocations = dict(owner.get("revocations") or {})
    if key not in revocations:
        raise NotFound(
            f"account {account} does not revoke {key}",
            f"{build_line('auth account revocations ls', account)} lists what it revokes",
        )
    del revocations[key]
    set_or_drop(owner, "revocations", revocations)
