"""The operator, accounts and users of a network in operator mode: created once, kept in its folder.

The claims in the network's file are stored beside them: a changed file changes only the claims that differ in
it, and keeps what `jsctl auth` has changed since.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsctl.auth import changes
from jsctl.auth.claims import as_object
from jsctl.auth.folders import NSC_FILE, StoreFolders
from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, KeyPair, create_key, parse_seed
from jsctl.auth.records import Record
from jsctl.auth.store import AuthStore
from jsctl.base.files import read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.posix import make_private_folder
from jsctl.localserver.spec import AccountSpec, Json, NetworkSpec
from jsctl.localserver.spec_nodes import LIMITS
from jsctl.localserver.state import CONTEXTS

FOLDER = "auth"  #: below the folder of the network
_DECLARED = "declared.json"  #: below that: the claims in the network's file, by account; "": its operator

_NSC = Path(CONTEXTS) / "nats" / "nsc"  #: below the folder of the network: for the settings of nsc

_UNLIMITED = ("subs", "data", "payload", "imports", "exports", "conn", "leaf")
_JETSTREAM = ("disk_storage", "mem_storage", "streams", "consumer")


@dataclass(frozen=True, slots=True)
class Identities:
    """Public keys and JWTs. Files are relative to the folder of the network."""

    operator_file: str
    keys: Mapping[str, str]  #: account name -> public key
    tokens: Mapping[str, str]  #: public key -> JWT
    creds: Mapping[str, str]  #: user name -> credentials file


def create_identities(spec: NetworkSpec, folder: Path, *, keep: bool) -> Identities:
    """Return the identities of a network, and create those that its folder does not have yet.

    Accounts whose claims the network's file changes are signed again, unless `keep`; keys and users stay.
    Raises BadInput for a broken store, OSError.
    """
    store = AuthStore(StoreFolders.below(folder / FOLDER), spec.operator)
    operator = _read_or_create_key(store, store.operator_jwt, OPERATOR)
    accounts = {
        account.name: _read_or_create_key(store, store.get_account_path(account.name), ACCOUNT)
        for account in spec.accounts
    }
    system = next(account.name for account in spec.accounts if account.system)
    account_claims: dict[str, Json] = {
        "": {"type": "operator", "version": 2, "system_account": accounts[system].public},
        **{account.name: _build_account_claims(account, accounts) for account in spec.accounts},
    }
    declared = _read_declared(folder)
    if not store.operator_jwt.exists():
        store.write_operator(_sign(account_claims[""], operator, spec.operator, operator))
    elif not keep and (changed := _find_change(store.read_operator(), declared.get(""), account_claims[""])):
        changes.change_operator(store, changed)  # running servers accept no other operator
    tokens, creds = {}, {}
    for account in spec.accounts:
        name, key = account.name, accounts[account.name]
        if not store.get_account_path(name).exists():
            store.write_account(name, _sign(account_claims[name], key, name, operator))
        elif not keep and (
            changed := _find_change(store.read_account(name), declared.get(name), account_claims[name])
        ):
            changes.change_account(store, name, changed)
        tokens[key.public] = store.read_account(name).token
        for user in account.users:
            _create_user(store, name, user, key)
            creds[user] = str(store.get_creds_path(name, user).relative_to(folder))
    _write_nsc_settings(store, folder)
    if not keep and account_claims != declared:
        # Last, so that a killed run is repeated.
        write_atomically(folder / FOLDER / _DECLARED, json.dumps(account_claims, indent=2) + "\n")
    return Identities(
        str(store.operator_jwt.relative_to(folder)),
        {name: key.public for name, key in accounts.items()},
        tokens,
        creds,
    )


def list_variables(folder: Path) -> dict[str, str]:
    """Return the environment variables that point jsctl, nats and nsc to the contexts and the operator of a
    network."""
    variables = {"XDG_CONFIG_HOME": str(folder / CONTEXTS)}
    if (folder / FOLDER).is_dir():
        variables["NSC_HOME"] = str(folder / _NSC)
        variables["NKEYS_PATH"] = str(StoreFolders.below(folder / FOLDER).keys)
    return variables


def _write_nsc_settings(store: AuthStore, folder: Path) -> None:
    """Write the settings by which nsc, `jsctl auth` and `apply` find the operator beside the contexts."""
    path = folder / _NSC / NSC_FILE
    if path.exists():
        return
    make_private_folder(path.parent)
    # Without this time nsc looks for a newer version of itself.
    settings = {"store_root": str(store.folders.stores), "operator": store.operator, "account": ""}
    write_atomically(path, json.dumps({**settings, "last_update": int(time.time())}))


def _read_declared(folder: Path) -> dict[str, Json]:
    path = folder / FOLDER / _DECLARED
    try:
        return as_object(parse_json(read_text(path, regular=True))) if path.exists() else {}
    except ValueError:
        return {}


def _find_change(record: Record, before: Json | None, after: Json) -> changes.Change | None:
    """Return the change of claims that a network's file requires; None if there is none.

    before: the claims of the file the last time; None applies the whole file.
    """
    claims = after if before is None else _merge(record.nats, before, after)
    if claims == record.nats:
        return None

    def change(nats: Json) -> None:
        nats.clear()
        nats.update(claims)

    return change


def _merge(live: Json, before: Json, after: Json) -> Json:
    """Return `live` with what differs between `before` and `after`."""
    merged = dict(live)
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            merged[key] = _merge(as_object(live.get(key)), old, new)
        elif key in after:
            merged[key] = new
        else:
            merged.pop(key, None)
    return merged


def _read_or_create_key(store: AuthStore, token_file: Path, kind: str) -> KeyPair:
    """Return the key of the subject of a JWT in the store; create one when there is no JWT."""
    if token_file.exists():
        public = str(decode_jwt(read_text(token_file, regular=True)).get("sub", ""))
        return parse_seed(read_text(store.get_seed_path(public), regular=True))
    key = create_key(kind)
    store.write_seed(key)
    return key


def _create_user(store: AuthStore, account: str, name: str, account_key: KeyPair) -> None:
    if store.get_creds_path(account, name).exists():
        return
    key = create_key(USER)
    store.write_seed(key)
    claims = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {}}
    store.write_user(account, name, _sign(claims, key, name, account_key), key)


def _sign(claims: Json, subject: KeyPair, name: str, signer: KeyPair) -> str:
    return encode_jwt({"sub": subject.public, "name": name, "nats": claims}, signer)


def _build_account_claims(account: AccountSpec, keys: Mapping[str, KeyPair]) -> Json:
    limits: Json = {**dict.fromkeys(_UNLIMITED, -1), "wildcards": True}
    if account.jetstream is not None:
        limits.update(dict.fromkeys(_JETSTREAM, -1))
        limits.update({LIMITS[option]: value for option, value in account.jetstream.items()})
    return {
        "type": "account",
        "version": 2,
        "limits": limits,
        "default_permissions": {"pub": {}, "sub": {}},
        "exports": [_build_export(export) for export in account.exports],
        "imports": [_build_import(imported, keys) for imported in account.imports],
        "mappings": {source: _build_targets(targets) for source, targets in account.mappings.items()},
    }


def _build_export(option: Json) -> Json:
    kind = _get_kind(option)
    claim = {"name": option[kind], "subject": option[kind], "type": kind}
    if response := option.get("response_type"):
        claim["response_type"] = str(response).capitalize()
    if position := option.get("account_token_position"):
        claim["account_token_position"] = position
    return claim


def _build_targets(option: Any) -> list[Json]:
    """Return the targets of a mapping: of a subject, or of a list of destinations with weights in percent."""
    if isinstance(option, str):
        return [{"subject": option, "weight": 100}]
    return [
        {"subject": each["destination"], "weight": int(str(each.get("weight", 100)).rstrip("%"))}
        | ({"cluster": each["cluster"]} if "cluster" in each else {})
        for each in (option if isinstance(option, list) else [option])
    ]


def _build_import(option: Json, keys: Mapping[str, KeyPair]) -> Json:
    kind = _get_kind(option)
    origin = option[kind]
    subject = origin["subject"]
    local = option.get("to") or (f"{option['prefix']}.{subject}" if option.get("prefix") else "")
    claim = {
        "name": local or subject,
        "subject": subject,
        "account": keys[origin["account"]].public,
        "type": kind,
    }
    return {**claim, "local_subject": local} if local else claim


def _get_kind(option: Json) -> str:
    return "service" if "service" in option else "stream"
