"""An operator with all its accounts, users and seeds as one document, in the format of `nats auth operator
backup`.

    {"name", "key": {"key": SEED}, "token": JWT, "signingKeys": [{"key": SEED}],
     "accounts": [{"name", "key", "token", "signingKeys", "users": [{"name", "key", "token"}]}]}

A key whose seed is not in the store is null.
"""

import json
from typing import Any

from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import KeyPair, parse_seed
from jsctl.auth.records import Json, Record, list_signing_keys
from jsctl.auth.signatures import find_operator_doubt
from jsctl.auth.store import AuthStore, check_name
from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError


def export_operator(store: AuthStore) -> str:
    """Return an operator as a document. Raises NotFound, BadInput."""
    document = _build_entry(store, store.load_operator())
    document["accounts"] = [
        {
            **_build_entry(store, account),
            "users": [
                {"name": user.name, "key": _build_seed_entry(store, user.public), "token": user.token}
                for user in store.load_users(account.name)
            ],
        }
        for account in store.load_accounts()
    ]
    return json.dumps(document, indent=2, ensure_ascii=False)


def import_operator(store: AuthStore, text: str) -> Record:
    """Add the operator in a document to a store that does not have it. Raises BadInput, OSError."""
    check_name(store.operator, "operator")
    if store.operator_jwt.exists():
        raise BadInput(f"operator {store.operator!r} already exists", "use another --store")
    document = _parse(text)
    if document["name"] != store.operator:
        raise BadInput(
            f"this is a backup of operator {document['name']}", f"restore it as {document['name']}"
        )
    seeds = {key.public for key in document["keys"]}
    operator = decode_jwt(document["token"])
    if doubt := find_operator_doubt(store.operator, document["token"], operator, seeds.__contains__):
        raise JsctlError(str(doubt), "restore another backup")
    entries = [document, *document["accounts"]]
    users = [(account["name"], user) for account in document["accounts"] for user in account["users"]]
    for entry in [*entries, *(user for _, user in users)]:
        for key in entry["keys"]:
            store.write_seed(key)
    accounts = {account["name"]: account["token"] for account in document["accounts"]}
    store.write_operator(document["token"], accounts)
    for account, user in users:
        store.write_user(account, user["name"], user["token"], user["keys"][0] if user["keys"] else None)
    return store.load_operator()


def _build_entry(store: AuthStore, record: Record) -> Json:
    keys = (_build_seed_entry(store, key.public) for key in list_signing_keys(record.nats))
    return {
        "name": record.name,
        "key": _build_seed_entry(store, record.public),
        "token": record.token,
        "signingKeys": [key for key in keys if key],
    }


def _build_seed_entry(store: AuthStore, public: str) -> Json | None:
    return {"key": store.read_key(public).seed} if store.has_seed(public) else None


def _parse(text: str) -> Json:
    """Parse a backup into the operator's document, with key pairs in `keys`. Raises BadInput."""
    try:
        document = parse_json(text)
        operator = _parse_entry(document, "operator")
        operator["accounts"] = [
            _parse_entry(account, "account") for account in document.get("accounts") or ()
        ]
        for account, source in zip(operator["accounts"], document.get("accounts") or (), strict=True):
            account["users"] = [_parse_entry(user, "user") for user in source.get("users") or ()]
    except (BadInput, ValueError, TypeError, KeyError, AttributeError):
        raise BadInput(
            "this is not a backup of an operator", f"{build_line('auth operator backup')} writes one"
        ) from None
    return operator


def _parse_entry(source: Any, kind: str) -> Json:
    name, token = source["name"], source["token"]
    if decode_jwt(token)["nats"].get("type") != kind:
        raise ValueError
    check_name(name, kind)
    seeds = [source.get("key"), *(source.get("signingKeys") or ())]
    keys: list[KeyPair] = [parse_seed(seed["key"]) for seed in seeds if seed]
    return {"name": name, "token": token, "keys": keys}
