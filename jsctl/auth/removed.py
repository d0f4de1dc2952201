"""Accounts that were removed from a store: servers may still have them, and a new one of the same name has
the key again.

    stores/OP/.jsctl-removed/ADE....jwt    the account's last JWT; `.gone` when servers do not have it
"""

import contextlib

from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import ACCOUNT
from jsctl.auth.records import Record
from jsctl.auth.shapes import check_shape
from jsctl.auth.store import AuthStore, is_name
from jsctl.base.files import read_text
from jsctl.errors import JsctlError

_OWED, _GONE = ".jwt", ".gone"


def remove_account(store: AuthStore, account: str) -> None:
    """Remove an account, its users and their credentials, and remember that servers may have it; seeds stay.

    Raises OSError.
    """
    with contextlib.suppress(JsctlError):  # nobody knows the key of a broken one
        record = store.load_account(account)
        if record.doubt is None:
            store.write_removed(record.public, record.token)
    store.remove_account(account)


def list_owed(store: AuthStore) -> list[Record]:
    """Return the removed accounts that servers may still have, by name."""
    return _list_removed(store, _OWED)


def find_removed(store: AuthStore, name: str) -> Record | None:
    """Return the removed account that had this name, the last of several; None if there is none."""
    removed = [record for record in _list_removed(store, _OWED, _GONE) if record.name == name]
    return max(removed, key=lambda record: int(record.claims.get("iat") or 0), default=None)


def mark_gone(store: AuthStore, public: str) -> None:
    """Note that servers do not have a removed account any more. Raises OSError."""
    path = store.removed_folder / f"{public}{_OWED}"
    with contextlib.suppress(FileNotFoundError):
        path.rename(path.with_suffix(_GONE))


def forget_removed(store: AuthStore, public: str) -> None:
    """Forget a removed account, because it exists again. Raises OSError."""
    for suffix in (_OWED, _GONE):
        (store.removed_folder / f"{public}{suffix}").unlink(missing_ok=True)


def _list_removed(store: AuthStore, *suffixes: str) -> list[Record]:
    records = []
    with contextlib.suppress(FileNotFoundError):
        for path in store.removed_folder.iterdir():
            with contextlib.suppress(JsctlError):
                if path.suffix not in suffixes:
                    continue
                token = read_text(path).strip()
                claims = check_shape(decode_jwt(token), ACCOUNT)
                name = str(claims.get("name"))
                if is_name(name) and not store.find_account_doubt(name, token, claims):
                    records.append(Record(name, token, claims))
    return sorted(records, key=lambda record: (record.name, record.public))
