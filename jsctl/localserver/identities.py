"""The operator, accounts and users of a network in operator mode: created once, kept in its folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, KeyPair, create_key, key_of_seed
from jsctl.auth.store import AuthStore
from jsctl.errors import BadInput
from jsctl.files import read_text
from jsctl.localserver.spec import AccountSpec, NetworkSpec

Json = dict[str, Any]

FOLDER = "auth"  #: below the folder of the network

_UNLIMITED = ("subs", "data", "payload", "imports", "exports", "conn", "leaf")
_JETSTREAM_LIMITS = {
    "max_file": "disk_storage",
    "max_mem": "mem_storage",
    "max_streams": "streams",
    "max_consumers": "consumer",
}
"""nats-server's options of an account -> the claim."""


@dataclass(frozen=True, slots=True)
class Identities:
    """Public keys and JWTs. Files are relative to the folder of the network."""

    operator_file: str
    keys: Mapping[str, str]  #: account name -> public key
    tokens: Mapping[str, str]  #: public key -> JWT
    creds: Mapping[str, str]  #: user name -> credentials file


def create_identities(spec: NetworkSpec, folder: Path, *, keep: bool = False) -> Identities:
    """Return the identities of a network, and create those that its folder does not have yet.

    JWTs of accounts whose claims differ from the network's file are signed again, unless `keep`; keys and
    users stay.
    Raises BadInput, OSError.
    """
    store = AuthStore(folder / FOLDER, spec.operator)
    operator = _key(store, store.operator_jwt, OPERATOR)
    accounts = {one.name: _key(store, store.account_jwt(one.name), ACCOUNT) for one in spec.accounts}
    system = next(account.name for account in spec.accounts if account.system)
    claims = {"type": "operator", "version": 2, "system_account": accounts[system].public}
    has_operator = store.operator_jwt.exists() and (keep or _signed_before(store.operator_jwt, claims))
    if not has_operator:  # servers take no other one while they run
        store.write_operator(_sign(claims, operator, spec.operator, operator))
    tokens, creds = {}, {}
    for account in spec.accounts:
        key = accounts[account.name]
        file = store.account_jwt(account.name)
        if keep and file.exists():
            token = read_text(file).strip()
        else:
            token = _signed_before(file, _account_claims(account, accounts))
        if not token:
            token = _sign(_account_claims(account, accounts), key, account.name, operator)
            store.write_account(account.name, token)
        tokens[key.public] = token
        for name in account.users:
            _create_user(store, account.name, name, key)
            creds[name] = str(store.creds(account.name, name).relative_to(folder))
    return Identities(
        str(store.operator_jwt.relative_to(folder)),
        {name: key.public for name, key in accounts.items()},
        tokens,
        creds,
    )


def _key(store: AuthStore, token_file: Path, kind: str) -> KeyPair:
    """The key of what a JWT of the store is about; a new one where there is no JWT."""
    if token_file.exists():
        public = str(decode_jwt(read_text(token_file)).get("sub", ""))
        return key_of_seed(read_text(store.seed(public)))
    key = create_key(kind)
    store.write_seed(key)
    return key


def _create_user(store: AuthStore, account: str, name: str, account_key: KeyPair) -> None:
    if store.creds(account, name).exists():
        return
    key = create_key(USER)
    store.write_seed(key)
    claims = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {}}
    store.write_user(account, name, _sign(claims, key, name, account_key), key)


def _sign(claims: Json, subject: KeyPair, name: str, signer: KeyPair) -> str:
    return encode_jwt({"sub": subject.public, "name": name, "nats": claims}, signer)


def _signed_before(file: Path, claims: Json) -> str:
    """Return the JWT of a file if it has these claims, and nothing else; else an empty text."""
    if not file.exists():
        return ""
    token = read_text(file).strip()
    return token if decode_jwt(token).get("nats") == claims else ""


def _account_claims(account: AccountSpec, keys: Mapping[str, KeyPair]) -> Json:
    limits: Json = {**dict.fromkeys(_UNLIMITED, -1), "wildcards": True}
    if account.jetstream is not None:
        limits.update(dict.fromkeys(_JETSTREAM_LIMITS.values(), -1))
        for option, value in account.jetstream.items():
            if option not in _JETSTREAM_LIMITS:
                raise BadInput(
                    f"account {account.name}: jetstream takes no {option!r} with an operator",
                    f"use {', '.join(_JETSTREAM_LIMITS)}",
                )
            limits[_JETSTREAM_LIMITS[option]] = value
    return {
        "type": "account",
        "version": 2,
        "limits": limits,
        "default_permissions": {"pub": {}, "sub": {}},
        "exports": [_export(account.name, one) for one in account.exports],
        "imports": [_import(account.name, one, keys) for one in account.imports],
    }


def _export(account: str, option: Json) -> Json:
    kind = _kind(account, option, "export")
    claim = {"name": option[kind], "subject": option[kind], "type": kind}
    if response := option.get("response_type"):
        claim["response_type"] = str(response).capitalize()
    return claim


def _import(account: str, option: Json, keys: Mapping[str, KeyPair]) -> Json:
    kind = _kind(account, option, "import")
    origin = option[kind]
    if not isinstance(origin, dict) or origin.get("account") not in keys or "subject" not in origin:
        raise BadInput(
            f"account {account}: an import names no account of this network",
            f"write {{{kind}: {{account: ACCOUNT, subject: SUBJECT}}, to: SUBJECT}}",
        )
    subject = origin["subject"]
    local = option.get("to") or (f"{option['prefix']}.{subject}" if option.get("prefix") else "")
    claim = {
        "name": local or subject,
        "subject": subject,
        "account": keys[origin["account"]].public,
        "type": kind,
    }
    return {**claim, "local_subject": local} if local else claim


def _kind(account: str, option: Json, what: str) -> str:
    kinds = [kind for kind in ("service", "stream") if kind in option]
    if len(kinds) != 1:
        raise BadInput(f"account {account}: an {what} has neither service nor stream, or both")
    return kinds[0]
