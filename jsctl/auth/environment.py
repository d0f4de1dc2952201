"""An operator in a store, read as data: its accounts and their users, with their claims.

These functions only read. Claims are the complete JSON.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jsctl.auth.claims import Json
from jsctl.auth.folders import StoreFolders
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.records import Account, Operator, User
from jsctl.auth.signatures import find_operator_doubt
from jsctl.auth.store import AuthStore, read_creds_jwt
from jsctl.base.command_lines import build_line
from jsctl.errors import BadInput, NotFound


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file in the store that holds no valid JWT. reason: why, in one line."""

    path: Path
    reason: str
    account: str = ""
    user: str = ""


@dataclass(frozen=True)
class Environment:
    """An operator with everything that the store has about it. accounts: in the order of their names."""

    operator: Operator
    accounts: Sequence[Account] = ()
    unreadable: Sequence[Unreadable] = ()

    @cached_property
    def _by_key(self) -> dict[str, Account]:
        return {account.public: account for account in reversed(self.accounts)}

    def get_account(self, public: str) -> Account | None:
        """Return the account with a public key; None when the store has none."""
        return self._by_key.get(public)

    def get_account_name(self, public: str) -> str:
        """Return the name of the account with a public key; the key itself when the store has none."""
        account = self.get_account(public)
        return account.name if account else public

    def find_account(self, name: str) -> Account:
        """Return an account by its name or public key. Raises NotFound."""
        for account in self.accounts:
            if name in (account.name, account.public):
                return account
        names = ", ".join(account.name for account in self.accounts) or "none"
        raise NotFound(f"there is no account {name}", f"operator {self.operator.name} has {names}")

    def find_users(self, name: str, account: str = "") -> list[User]:
        """Return the users with a name or public key, of one account or of all.

        Raises NotFound for an account that does not exist.
        """
        accounts = [self.find_account(account)] if account else self.accounts
        return [user for owner in accounts for user in owner.users if name in (user.name, user.public)]


def read_environment(folders: StoreFolders, operator: str) -> Environment:
    """Return an operator with its accounts and users.

    Files of accounts and users that hold no valid JWT are in `unreadable`. Raises NotFound for an operator
    that the store does not have, BadInput for one whose JWT cannot be read.
    """
    store = AuthStore(folders, operator)
    token = _read(store.operator_jwt)
    if token is None:
        raise NotFound(
            f"there is no operator {operator}", f"{build_line('auth operator ls')} lists the operators"
        )
    unreadable: list[Unreadable] = []
    accounts = list(_read_accounts(store, unreadable))
    claims = decode_jwt(token)
    doubt = find_operator_doubt(operator, token, claims, store.has_seed)
    return Environment(Operator(operator, token, claims, doubt), accounts, unreadable)


def _read_accounts(store: AuthStore, unreadable: list[Unreadable]) -> Iterator[Account]:
    for name in _list_folders(store.operator_jwt.parent / "accounts"):
        path = store.get_account_path(name)
        users = list(_read_users(store, name, unreadable))
        token, claims = _decode(path, unreadable, name)
        if claims is not None:
            yield Account(name, token, claims, users=users)
        elif not path.exists() and users:
            unreadable.append(Unreadable(path, "the account has users but no JWT", name))


def _read_users(store: AuthStore, account: str, unreadable: list[Unreadable]) -> Iterator[User]:
    folder = store.get_user_path(account, "").parent
    for name in sorted(path.name.removesuffix(".jwt") for path in folder.glob("*.jwt") if path.stem):
        token, claims = _decode(store.get_user_path(account, name), unreadable, account, name)
        if claims is not None:
            credentials = read_creds_jwt(store.get_creds_path(account, name))
            yield User(name, token, claims, account=account, credentials=credentials)


def _decode(
    path: Path, unreadable: list[Unreadable], account: str, user: str = ""
) -> tuple[str, Json | None]:
    token = _read(path)
    if token is None:
        return "", None
    try:
        return token, decode_jwt(token)
    except BadInput as error:
        unreadable.append(Unreadable(path, error.message, account, user))
        return "", None


def _read(path: Path) -> str | None:
    """Return the text of a file; None when there is no such file."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _list_folders(parent: Path) -> list[str]:
    try:
        return sorted(path.name for path in parent.iterdir() if path.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def read_claims(token: str) -> Json:
    """Return the claims of a JWT; empty for one that cannot be read."""
    try:
        return decode_jwt(token)
    except BadInput:
        return {}
