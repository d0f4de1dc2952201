"""Replacing a signing key of an account or operator by a new one, in steps that can be continued.

    stores/OP/.jsctl-rotating/OLD    the public key of the new one, from before a JWT has it until OLD is gone

Both keys are valid until the old one is removed. The new one has the old one's scope and role; the role of
the old one becomes ROLE-old meanwhile, so that ROLE names one key; and it stands before the old one, so that
it signs where no key is named.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jsctl.auth.changes import change_user, leave_unchanged
from jsctl.auth.claims import (
    as_object,
    as_objects,
    as_text,
    find_local_subject,
    find_revocation,
    map_signing_keys,
)
from jsctl.auth.environment import read_claims
from jsctl.auth.keys import create_key
from jsctl.auth.records import Account, Json, User
from jsctl.auth.store import AuthStore, format_creds, read_creds_jwt
from jsctl.base.command_lines import build_line
from jsctl.base.files import escape_path, read_text, write_atomically
from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import expand_home

_OF_SIGNATURE = {"iss", "iat", "jti"}
"""Claims that differ when the same claims are signed again."""


class Rotation(NamedTuple):
    """The replacement of a key by another, by their public keys. new: empty before the first step."""

    old: str
    new: str = ""


class Unreached(NamedTuple):
    """What the old key signed and a rotation does not write. user: a name; empty if the store does not have
    the user. file: of credentials; empty for other things.

    blocks: whether they stop working when the old key is removed.
    """

    user: str
    file: str
    reason: str
    blocks: bool = True


class Signed(NamedTuple):
    """A user to sign with the new key, and the files that get its credentials, those of the store first."""

    user: str
    files: Sequence[Path]


# -- the journal ------------------------------------------------------------------------------------


def find_rotations(store: AuthStore, keys: Iterable[str]) -> list[Rotation]:
    """Return the unfinished rotations of which one of these keys is the old or the new one."""
    found, wanted = [], set(keys)
    with contextlib.suppress(FileNotFoundError):
        for path in sorted(store.rotations_folder.iterdir()):
            rotation = Rotation(path.name, read_text(path, regular=True).strip())
            if store.has_seed(rotation.new) and wanted & set(rotation):
                found.append(rotation)
    return found


def begin_rotation(store: AuthStore, old: str, kind: str) -> Rotation:
    """Create the key that replaces another, unless there is one. kind: ACCOUNT or OPERATOR. Raises
    OSError."""
    with store.locked():
        for rotation in find_rotations(store, [old]):
            if rotation.old == old:
                return rotation
        key = create_key(kind)
        store.write_seed(key)
        make_private_folder(store.rotations_folder)
        write_atomically(store.rotations_folder / old, key.public + "\n")
    return Rotation(old, key.public)


def end_rotation(store: AuthStore, rotation: Rotation) -> None:
    """Remove the seed of the old key, which no JWT names any more. Raises OSError."""
    store.remove_seed(rotation.old)
    (store.rotations_folder / rotation.old).unlink(missing_ok=True)


# -- claims -----------------------------------------------------------------------------------------


def add_new_key(nats: Json, rotation: Rotation) -> None:
    """Add the new key of a rotation to the claims of an account or operator in place, unless it is there."""
    keys = map_signing_keys(nats)
    if rotation.new in keys or rotation.old not in keys:
        return
    scope = keys[rotation.old]
    added = {**scope, "key": rotation.new} if scope else rotation.new
    if scope and scope.get("role"):
        scope["role"] = f"{scope['role']}-old"
    at = nats["signing_keys"].index(scope or rotation.old)
    nats["signing_keys"] = [*nats["signing_keys"][:at], added, *nats["signing_keys"][at:]]


def differs_elsewhere(claims: Json, served: Json, rotation: Rotation) -> bool:
    """Return whether the `nats` claims of an account differ from those on servers in anything but the keys of
    a rotation."""
    before, after = (
        {
            **nats,
            "signing_keys": {
                key: scope for key, scope in map_signing_keys(nats).items() if key not in rotation
            },
        }
        for nats in (claims, served)
    )
    return before != after


# -- users ------------------------------------------------------------------------------------------


def plan_users(
    store: AuthStore, account: Account, rotation: Rotation, files: Mapping[str, str]
) -> tuple[list[Signed], list[Unreached]]:
    """Return the users whose credentials are to be written, and those that cannot be, or must not.

    files: credentials files outside the store that may be the users', each with what names it ("context X").
    Users who are revoked are not signed again: that would let them in.
    """
    signed, unreached = [], []
    users = {user.public: user for user in store.load_users(account.name)}
    copies: dict[str, list[Path]] = {}
    for file, source in files.items():
        claims = _read_creds_claims(file)
        if claims.get("iss") != rotation.old:
            continue
        user = users.get(str(claims.get("sub")))
        if user is None:
            unreached.append(Unreached("", file, f"of {source}: the store does not have this user"))
        elif not store.has_seed(user.public) or not _is_same(claims, user.claims):
            reason = f"of {source}: it is not a copy of what the store has of {user.name}"
            unreached.append(Unreached(user.name, file, reason))
        else:
            copies.setdefault(user.public, []).append(expand_home(file))
    for user in users.values():
        if user.issuer not in rotation:
            continue
        path = store.get_creds_path(account.name, user.name)
        if problem := _find_obstacle(account, user):
            if user.issuer == rotation.old:
                unreached.append(Unreached(user.name, "", problem, blocks=False))
            continue
        if not store.has_seed(user.public):
            place = escape_path(store.get_user_path(account.name, user.name))
            reason = f"the store does not have its seed: its holder needs the JWT in {place}"
            unreached.append(Unreached(user.name, "", reason))
            targets = []
        else:
            targets = [path] if user.issuer == rotation.old or read_creds_jwt(path) != user.token else []
        targets += copies.get(user.public, [])
        if targets or user.issuer == rotation.old:
            signed.append(Signed(user.name, targets))
    return signed, unreached


def sign_users(
    store: AuthStore,
    account: Account,
    rotation: Rotation,
    users: Sequence[Signed],
    advance: Callable[[int], None],
) -> None:
    """Sign users with the new key, and write their credentials. Raises NotFound, BadInput, OSError."""
    for name, files in users:
        user = change_user(store, account, name, leave_unchanged, signer=rotation.new)
        for file in files:
            if file != store.get_creds_path(account.name, name):
                write_atomically(file, format_creds(user.token, store.read_key(user.public).seed))
        advance(1)


def _find_obstacle(account: Account, user: User) -> str:
    if user.doubt:
        return f"it was not signed again: {user.doubt}"
    if find_revocation(account.nats.get("revocations"), user.public, user.issued):
        return "it is revoked, and was not signed again"
    return ""


def _read_creds_claims(file: str) -> Json:
    try:
        return read_claims(read_creds_jwt(expand_home(file)))
    except (OSError, ValueError):
        return {}


def _is_same(claims: Json, others: Json) -> bool:
    first, second = (
        {key: value for key, value in each.items() if key not in _OF_SIGNATURE} for each in (claims, others)
    )
    return first == second


def find_imports_by_key(
    store: AuthStore, account: Account, key: str, served: Iterable[str] = ()
) -> list[str]:
    """Return sentences on the imports from an account whose activation token a key signed: they end when the
    account does not have the key any more (nats-server: checkActivation).

    served: JWTs of accounts that servers have, beside those in the store.
    """
    stored = store.load_accounts()
    names = {each.public: each.name for each in stored}
    found = {}
    for claims in [*(each.claims for each in stored), *map(read_claims, served)]:
        public = as_text(claims.get("sub"))
        name = names.get(public, public)
        for imported in as_objects(as_object(claims.get("nats")).get("imports")):
            token = as_text(imported.get("token"))
            if imported.get("account") != account.public or read_claims(token).get("iss") != key:
                continue
            local = find_local_subject(imported)
            renew = build_line("auth account imports edit", local, name, flags=["--activate"])
            push = build_line("auth account push", name)
            then = f"; {renew} and {push} renew it" if public in names else ""
            found[name, local] = f"account {name} imports {local} with a token that {key} signed{then}"
    return [sentence for _, sentence in sorted(found.items())]
