"""Changes of the operators, accounts and users of a store: their claims are changed, signed and written.

A change is a function that changes the `nats` claims in place. It is applied under the store's lock to the
current claims, so that concurrent processes do not overwrite each other's changes.

Only claims of genuine JWTs are signed (`signatures`), and `accepted` ones: those of a JWT that is not
genuine, but that the user has seen and agreed to.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jsctl.auth.jwt import encode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, KeyPair, create_key
from jsctl.auth.records import (
    Account,
    Json,
    Operator,
    Record,
    SigningKey,
    User,
    build_account,
    build_operator,
    get_signing_key,
    list_signing_keys,
)
from jsctl.auth.removed import find_removed, forget_removed
from jsctl.auth.store import AuthStore, check_name, read_creds_jwt, require_genuine
from jsctl.base.command_lines import build_line
from jsctl.errors import BadInput, NotFound

Change = Callable[[Json], None]
"""Changes the `nats` claims in place."""

Announce = Callable[[Json, Json], None]
"""Called with the new and the old claims before they are signed; what it raises prevents it."""

SYSTEM_ACCOUNT = "SYSTEM"


def leave_unchanged(nats: Json) -> None:
    """Leave the claims as they are."""


def sign_silently(after: Json, before: Json) -> None:
    """Announce nothing."""


class Resigning(NamedTuple):
    """How changed claims are signed.

    again: also when nothing changes, and valid from now on. accepted: the JWT, if it is not genuine and the
    user agrees to what it claims. announce: called before anything is written.
    """

    again: bool = False
    accepted: str = ""
    announce: Announce = sign_silently


_SIMPLY = Resigning()


# -- operators --------------------------------------------------------------------------------------


def create_operator(
    store: AuthStore, change: Change = leave_unchanged, *, signing: bool = True, system: str
) -> Operator:
    """Create an operator with a system account. system: its name; empty for no system account.

    signing: create a signing key, too. Raises BadInput, OSError.
    """
    check_name(store.operator, OPERATOR)
    if system:
        check_name(system, ACCOUNT)
    if store.operator_jwt.exists():
        raise BadInput(f"operator {store.operator!r} already exists", "use another name")
    key = create_key(OPERATOR)
    nats = build_operator()
    change(nats)
    if signing:
        signer = create_key(OPERATOR)
        store.write_seed(signer)
        nats["signing_keys"] = [*(nats.get("signing_keys") or ()), signer.public]
    store.write_seed(key)
    accounts = {}
    if system:
        account = create_key(ACCOUNT)
        store.write_seed(account)
        nats["system_account"] = account.public
        claims = {"sub": account.public, "name": system, "nats": build_account(bearer=True)}
        accounts[system] = encode_jwt(claims, key)
    token = encode_jwt({"sub": key.public, "name": store.operator, "nats": nats}, key)
    store.write_operator(token, accounts)
    return store.read_operator()


def change_operator(
    store: AuthStore,
    change: Change,
    claims: Mapping[str, Any] | None = None,
    resigning: Resigning = _SIMPLY,
) -> Operator:
    """Change an operator and sign it again, as `change_account` does an account.

    Raises NotFound, NotGenuine, BadInput, OSError, what `resigning.announce` raises.
    """
    with store.locked():
        record = require_genuine(store.load_operator(), resigning.accepted)
        changed = _apply_change(record, change, claims, OPERATOR if resigning.again else "")
        if not _needs_signing(record, changed, record.issuer, resigning):
            return record
        resigning.announce(changed, record.claims)
        store.write_operator(encode_jwt(changed, store.read_key(record.public)))
        return store.read_operator()


def find_operator_signer(store: AuthStore, chosen_key: str = "") -> KeyPair:
    """Return the key that signs accounts: a signing key, or the operator's own key if that is allowed.

    chosen_key: the public key to use; empty for any. Raises NotFound when the store has no such seed,
    BadInput.
    """
    operator = store.read_operator()
    signers = operator.signing_keys
    strict = operator.is_strict
    if chosen_key:
        if chosen_key not in (*signers, operator.public):
            raise BadInput(f"operator {operator.name} has no signing key {chosen_key}")
        return store.read_key(chosen_key)
    candidates = [*signers] if strict else [operator.public, *signers]
    for public in candidates:
        if store.has_seed(public):
            return store.read_key(public)
    if strict and not signers:
        raise BadInput(
            f"operator {operator.name} requires signing keys but has none",
            f"{build_line('auth operator keys add')} adds one",
        )
    raise NotFound(
        f"the store has no seed of operator {operator.name} that may sign accounts",
        f"put the seed of {candidates[0]} into {store.get_seed_path(candidates[0])}",
    )


# -- accounts ---------------------------------------------------------------------------------------


def create_account(
    store: AuthStore,
    name: str,
    change: Change,
    *,
    signer: str = "",
    claims: Mapping[str, Any] | None = None,
) -> Account:
    """Create an account. One that is removed and created again gets the key that it had, if its seed is still
    in the store: the servers keep its streams, and its revocations stay in force.

    signer: the operator's key that signs. claims: further claims beside `nats`, such as `exp`. Raises
    BadInput, NotFound, OSError.
    """
    check_name(name, ACCOUNT)
    with store.locked():
        if store.get_account_path(name).exists():
            raise BadInput(f"account {name!r} already exists", "use another name")
        signing = find_operator_signer(store, signer)
        earlier = find_earlier(store, name)
        key = store.read_key(earlier.public) if earlier else create_key(ACCOUNT)
        nats = build_account()
        change(nats)
        if earlier and (revocations := earlier.nats.get("revocations")):
            nats["revocations"] = {**revocations, **(nats.get("revocations") or {})}
        store.write_seed(key)
        body = {**_drop_missing(claims), "sub": key.public, "name": name, "nats": nats}
        store.write_account(name, encode_jwt(body, signing))
        if earlier:
            forget_removed(store, earlier.public)
        return store.read_account(name)


def find_earlier(store: AuthStore, name: str) -> Record | None:
    """Return the removed account whose key a new one of this name gets; None if there is none."""
    earlier = find_removed(store, name)
    return earlier if earlier and store.has_seed(earlier.public) else None


def change_account(
    store: AuthStore,
    name: str,
    change: Change,
    claims: Mapping[str, Any] | None = None,
    signer: str = "",
    resigning: Resigning = _SIMPLY,
) -> Account:
    """Change an account and sign it again. Nothing is written when nothing changes, unless it must be signed
    again or another key signs.

    claims: further claims beside `nats`, such as `exp`; None removes one. signer: the operator's key that
    signs. Raises NotFound, NotGenuine, BadInput, OSError, what `resigning.announce` raises.
    """
    with store.locked():
        record = require_genuine(store.load_account(name), resigning.accepted)
        changed = _apply_change(record, change, claims, ACCOUNT if resigning.again else "")
        key = find_operator_signer(store, signer)
        if not _needs_signing(record, changed, key.public, resigning):
            return record
        resigning.announce(changed, record.claims)
        store.write_account(name, encode_jwt(changed, key))
        return store.read_account(name)


def find_signing_key(account: Record, name: str) -> SigningKey:
    """Return an account's signing key by its public key or its role. Raises NotFound, BadInput."""
    keys = list_signing_keys(account.nats)
    matching = [key for key in keys if name in (key.public, key.role)]
    if len(matching) > 1:
        raise BadInput(
            f"account {account.name} has {len(matching)} keys for role {name}", "use the public key"
        )
    if not matching:
        raise NotFound(
            f"account {account.name} has no signing key {name!r}",
            f"{build_line('auth account keys ls', account.name)} lists them",
        )
    return matching[0]


def find_user_signer(store: AuthStore, account: Record, name: str = "") -> KeyPair:
    """Return the key that signs users: the account's own, or its signing key of this public key or role.

    Raises NotFound when the store does not have the seed, NotGenuine, BadInput.
    """
    require_genuine(account)
    if name and name != account.public:
        return store.read_key(find_signing_key(account, name).public)
    strict = store.read_operator().is_strict
    plain = [key.public for key in list_signing_keys(account.nats) if key.scope is None]
    if strict and not name:
        for public in plain:
            if store.has_seed(public):
                return store.read_key(public)
        raise BadInput(
            f"operator {store.operator} requires signing keys, but account {account.name} has no plain one",
            f"add one with {build_line('auth account keys add', account.name, flags=['--no-scope'])}, or use"
            " --key",
        )
    for public in (account.public, *([] if name else plain)):
        if store.has_seed(public):
            return store.read_key(public)
    return store.read_key(account.public)


# -- users ------------------------------------------------------------------------------------------


def check_new_user(store: AuthStore, account: Record, name: str) -> None:
    """Raise BadInput for a name that no user can have, or that a user of the account already has."""
    check_name(name, USER)
    if store.get_user_path(account.name, name).exists():
        raise BadInput(f"account {account.name} already has a user {name!r}", "use another name")


def create_user(
    store: AuthStore,
    account: Record,
    name: str,
    nats: Json,
    signer: KeyPair,
    *,
    public: str = "",
    claims: Mapping[str, Any] | None,
) -> User:
    """Create a user with these `nats` claims.

    public: the public key of a user who keeps the seed. claims: further claims beside `nats`. Raises
    BadInput, OSError.
    """
    with store.locked():
        check_new_user(store, account, name)
        key = None if public else create_key(USER)
        if key:
            store.write_seed(key)
        body = {
            **_drop_missing(claims),
            "sub": key.public if key else public,
            "name": name,
            "nats": dict(nats),
        }
        _write_user(store, account, name, body, signer, key)
        return store.read_user(account.name, name)


def change_user(
    store: AuthStore,
    account: Record,
    name: str,
    change: Change,
    claims: Mapping[str, Any] | None = None,
    signer: str = "",
    resigning: Resigning = _SIMPLY,
) -> User:
    """Change a user, and sign it again with the same key or with another, as `change_account` does.

    Credentials that are missing or of another JWT are written again, also when nothing is signed. signer: a
    public key; empty for the same. Raises NotFound, NotGenuine, BadInput, OSError, what `resigning.announce`
    raises.
    """
    with store.locked():
        record = require_genuine(store.load_user(account.name, name), resigning.accepted)
        changed = _apply_change(record, change, claims, USER if resigning.again else "")
        issuer = signer or record.issuer
        key = store.read_key(record.public) if store.has_seed(record.public) else None
        if not _needs_signing(record, changed, issuer, resigning):
            if key and read_creds_jwt(store.get_creds_path(account.name, name)) != record.token:
                resigning.announce(changed, record.claims)
                store.write_user(account.name, name, record.token, key)
            return record
        resigning.announce(changed, record.claims)
        _write_user(store, account, name, changed, store.read_key(issuer), key)
        return store.read_user(account.name, name)


def sign_copy(store: AuthStore, record: Record, claims: Mapping[str, Any]) -> str:
    """Return a JWT with other claims beside `nats`, signed with the same key as the user's own.

    Raises NotFound without the seed.
    """
    body = _apply_change(require_genuine(record), leave_unchanged, claims)
    return encode_jwt(body, store.read_key(record.issuer))


def _write_user(
    store: AuthStore, account: Record, name: str, claims: Json, signer: KeyPair, key: KeyPair | None
) -> None:
    nats = claims["nats"]
    nats.pop("issuer_account", None)
    if signer.public != account.public:
        if get_signing_key(account.nats, signer.public) is None:
            raise BadInput(f"{signer.public} is not a signing key of account {account.name}")
        nats["issuer_account"] = account.public
    store.write_user(account.name, name, encode_jwt(claims, signer), key)


def _drop_missing(claims: Mapping[str, Any] | None) -> Json:
    return {key: value for key, value in (claims or {}).items() if value is not None}


def _needs_signing(record: Record, changed: Json, issuer: str, resigning: Resigning) -> bool:
    return bool(changed != record.claims or issuer != record.issuer or resigning.again or record.doubt)


def _apply_change(record: Record, change: Change, claims: Mapping[str, Any] | None, kind: str = "") -> Json:
    """Return the changed claims. kind: of claims that are signed again, valid from now on, which say that
    they are of this kind; empty to leave that as it is."""
    changed: Json = copy.deepcopy(record.claims)
    if kind:
        changed["nats"].update(type=kind, version=2)
        changed.pop("nbf", None)
    change(changed["nats"])
    for key, value in (claims or {}).items():
        if value is None:
            changed.pop(key, None)
        else:
            changed[key] = value
    return changed
