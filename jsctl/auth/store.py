"""The folders of operators, accounts and users that `nsc` and `nats auth` share (nsc: cmd/store/store.go,
cmd/store/keys.go). `jsctl.auth.folders` finds them.

    stores/OP/.nsc                       {"managed", "name", "kind", "version"}
    stores/OP/OP.jwt                     the operator's JWT
    stores/OP/accounts/ACC/ACC.jwt       an account's
    stores/OP/accounts/ACC/users/U.jwt   a user's
    keys/keys/A/DE/ADE....nk             a seed: the first letter of the key, then the next two
    keys/creds/OP/ACC/U.creds            credentials: the user's JWT and seed
    stores/OP/.jsctl-removed/ADE....jwt  a removed account's (`removed`)
    stores/OP/.jsctl-rotating/ADE...     a key that is being replaced (`rotation`)
    stores/OP/.jsctl-seen/ADE...         digests of the JWTs that an account had before in this store

Folders are 0700, files 0600 and written atomically. Seeds are written before the JWTs that name their keys,
and an operator's folder appears complete: a process that is killed leaves a store that every tool can read.
"""

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from jsctl.auth.folders import StoreFolders
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, KeyPair, is_public_key, parse_seed
from jsctl.auth.records import Account, Json, Operator, Record, User
from jsctl.auth.shapes import check_shape
from jsctl.auth.signatures import (
    Doubt,
    NotGenuine,
    find_account_doubt,
    find_operator_doubt,
    find_user_doubt,
)
from jsctl.base.command_lines import build_line
from jsctl.base.files import escape_path, read_text, write_atomically
from jsctl.base.posix import lock, make_private_folder, open_folder
from jsctl.errors import BadInput, JsctlError, NotFound

R = TypeVar("R", bound=Record)

_JWT = ".jwt"
_DESCRIPTION = ".nsc"
_IGNORED = "# Ignore all nkeys and creds\n**/*.nk\n**/*.creds\n"
_SEEN = ".jsctl-seen"
_MAX_SEEN = 1000  #: JWTs of an account that are remembered
_NEW = ".jsctl-new-"  #: prefix of the folder of an operator that is not complete yet


def check_name(name: str, kind: str) -> None:
    """Raise BadInput for a name that no file can have. kind: "operator", "account" or "user"."""
    if not is_name(name):
        raise BadInput(
            f"{name!r} is not a valid {kind} name",
            "use one without slashes or control characters that does not begin with a dot",
        )


def is_name(name: str) -> bool:
    """Return whether an operator, account or user may have this name."""
    return (
        0 < len(name.encode(errors="replace")) <= 200
        and name[0] != "."
        and "/" not in name
        and (name.isprintable() and name == name.strip())
    )


def require_genuine(record: R, accepted: str = "") -> R:
    """Return a record whose JWT is genuine. accepted: a JWT that the user has seen and wants to be signed.

    Raises NotGenuine.
    """
    if record.doubt and not (accepted and record.doubt.token == accepted):
        raise NotGenuine(record.doubt)
    return record


class AuthStore:
    """The part of the store's folders that belongs to one operator.

    selected: the selected account; empty when none is selected.
    """

    def __init__(self, folders: StoreFolders, operator: str, selected: str = "") -> None:
        self.folders = folders
        self.operator = operator
        self.selected_account = selected
        self._operator_folder = folders.stores / operator

    # -- files --------------------------------------------------------------------------------------

    @property
    def operator_jwt(self) -> Path:
        """The path of the operator's JWT."""
        return self._operator_folder / f"{self.operator}{_JWT}"

    def get_account_path(self, account: str) -> Path:
        """Return the path of an account's JWT."""
        return self._operator_folder / "accounts" / account / f"{account}{_JWT}"

    def get_user_path(self, account: str, user: str) -> Path:
        """Return the path of a user's JWT."""
        return self._operator_folder / "accounts" / account / "users" / f"{user}{_JWT}"

    def get_creds_path(self, account: str, user: str) -> Path:
        """Return the path of a user's credentials."""
        return self.folders.keys / "creds" / self.operator / account / f"{user}.creds"

    def get_seed_path(self, public: str) -> Path:
        """Return the path of the seed of a public key."""
        return self.folders.keys / "keys" / public[0] / public[1:3] / f"{public}.nk"

    # -- reading ------------------------------------------------------------------------------------

    @property
    def removed_folder(self) -> Path:
        """The folder of the JWTs of removed accounts; see `removed`."""
        return self._operator_folder / ".jsctl-removed"

    @property
    def rotations_folder(self) -> Path:
        """The folder of keys that are being replaced; see `rotation`."""
        return self._operator_folder / ".jsctl-rotating"

    def list_account_names(self) -> list[str]:
        """Return the names of all accounts, sorted. Raises OSError."""
        return self.folders.list_accounts(self.operator)

    def list_user_names(self, account: str) -> list[str]:
        """Return the names of all users of an account, sorted. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            files = (self._operator_folder / "accounts" / account / "users").iterdir()
            return sorted(f.name.removesuffix(_JWT) for f in files if f.suffix == _JWT and f.name[0] != ".")
        return []

    # `read_...` raises NotGenuine; `load_...` returns the doubt in the record, to show or remove it.

    def load_operator(self) -> Operator:
        """Return the operator, genuine or not. Raises NotFound, BadInput for a broken file."""
        missing = f"there is no operator {self.operator!r}", f"{build_line('auth operator ls')} lists them"
        token, claims = _read(self.operator, self.operator_jwt, OPERATOR, missing)
        doubt = find_operator_doubt(self.operator, token, claims, self.has_seed)
        return Operator(self.operator, token, claims, doubt)

    def load_account(self, account: str) -> Account:
        """Return an account, by name, genuine or not. Raises NotFound, BadInput for a broken file."""
        lists = f"{build_line('auth account ls', self.operator)} lists them"
        missing = f"there is no account {account!r}", lists
        token, claims = _read(account, self.get_account_path(account), ACCOUNT, missing)
        return Account(account, token, claims, self.find_account_doubt(account, token, claims))

    def find_account_doubt(self, name: str, token: str, claims: Json) -> Doubt | None:
        """Return why an account, of this store or of a server, is not genuine; None when it is."""
        try:
            operator = self.load_operator()
        except JsctlError as error:
            return Doubt(OPERATOR, self.operator, f"cannot be read: {error.message}")
        return operator.doubt or find_account_doubt(name, token, claims, operator.claims)

    def load_user(self, account: str, user: str) -> User:
        """Return a user, by name, genuine or not. Raises NotFound, BadInput for a broken file."""
        return self._load_user(None, account, user)

    def _load_user(self, owner: Record | None, account: str, user: str) -> User:
        lists = f"{build_line('auth user ls', account)} lists them"
        missing = f"account {account} has no user {user!r}", lists
        token, claims = _read(user, self.get_user_path(account, user), USER, missing)
        try:
            owner = owner or self.load_account(account)
            doubt = owner.doubt or find_user_doubt(user, token, claims, owner.claims, account)
        except JsctlError as error:
            doubt = Doubt(ACCOUNT, account, f"cannot be read: {error.message}")
        return User(user, token, claims, doubt, account)

    def load_accounts(self) -> list[Account]:
        """Return all accounts, genuine or not. Raises BadInput for a broken file."""
        return [self.load_account(name) for name in self.list_account_names()]

    def load_users(self, account: str) -> list[User]:
        """Return all users of an account, genuine or not. Raises BadInput for a broken file."""
        names = self.list_user_names(account)
        owner = self.load_account(account) if names else None
        return [self._load_user(owner, account, name) for name in names]

    def read_operator(self) -> Operator:
        """Return the operator. Raises NotFound, NotGenuine, BadInput for a broken file."""
        return require_genuine(self.load_operator())

    def read_account(self, account: str) -> Account:
        """Return an account, by name. Raises NotFound, NotGenuine, BadInput for a broken file."""
        return require_genuine(self.load_account(account))

    def read_user(self, account: str, user: str) -> User:
        """Return a user, by name. Raises NotFound, NotGenuine, BadInput for a broken file."""
        return require_genuine(self.load_user(account, user))

    def read_accounts(self) -> list[Account]:
        """Return all accounts. Raises NotGenuine, BadInput for a broken file."""
        return [require_genuine(account) for account in self.load_accounts()]

    def load_named_account(self, name: str) -> Account:
        """Return an account by its name or public key, genuine or not. Raises NotFound, BadInput for a broken
        file."""
        if is_public_key(name) and not self.get_account_path(name).exists():
            for record in self.load_accounts():
                if record.public == name:
                    return record
        return self.load_account(name)

    def find_account(self, name: str) -> Account:
        """Return an account by its name or public key. Raises NotFound, NotGenuine, BadInput for a broken
        file."""
        return require_genuine(self.load_named_account(name))

    def has_seed(self, public: str) -> bool:
        """Return whether the seed of a public key is in the store."""
        return bool(public) and self.get_seed_path(public).is_file()

    def read_key(self, public: str) -> KeyPair:
        """Return the key pair of a public key. Raises NotFound without its seed, BadInput."""
        if not is_public_key(public):
            raise BadInput(f"{public!r} is not a valid public key")
        path = self.get_seed_path(public)
        if not path.is_file():
            raise NotFound(
                f"the seed of {public} is not in the store",
                f"save it as {escape_path(path)}, or use another key",
            )
        try:
            key = parse_seed(read_text(path, regular=True))
        except BadInput as error:
            raise BadInput(f"{escape_path(path)}: {error.message}", error.hint) from None
        if key.public != public:
            raise BadInput(f"{escape_path(path)} contains the seed of another key, {key.public}")
        return key

    # -- writing ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes of jsctl from changing this operator's part until the block ends."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(FileNotFoundError):  # a new operator
                handle = open_folder(self._operator_folder)
                stack.callback(os.close, handle)
                lock(handle)
            yield

    def write_operator(self, token: str, accounts: Mapping[str, str] | None = None) -> None:
        """Write the operator's JWT. accounts: JWTs by name; a new operator appears with them.

        Raises OSError.
        """
        if self._operator_folder.exists():
            self._write(self.operator_jwt, token)
            if not (self._operator_folder / _DESCRIPTION).exists():
                self._write(self._operator_folder / _DESCRIPTION, self._build_description())
            for name, account in (accounts or {}).items():
                self.write_account(name, account)
            return
        # One level down, where no tool mistakes it for an operator.
        parent = self.folders.stores / f"{_NEW}{os.getpid()}-{os.urandom(4).hex()}"
        unfinished = parent / self.operator
        make_private_folder(unfinished)
        try:
            write_atomically(unfinished / _DESCRIPTION, self._build_description())
            write_atomically(unfinished / f"{self.operator}{_JWT}", token)
            for name, account in (accounts or {}).items():
                folder = unfinished / "accounts" / name
                make_private_folder(folder)
                write_atomically(folder / f"{name}{_JWT}", account)
            unfinished.rename(self._operator_folder)
        finally:
            shutil.rmtree(parent, ignore_errors=True)

    def write_account(self, account: str, token: str) -> None:
        """Write an account's JWT, and remember the one before it. Raises OSError."""
        with contextlib.suppress(JsctlError):
            record = self.load_account(account)
            self.note_seen(record.public, record.token)
        self._write(self.get_account_path(account), token)

    def note_seen(self, public: str, token: str) -> None:
        """Remember a JWT of an account that this store, or what was pushed from it, has had. Raises
        OSError."""
        seen = self._read_seen(public)
        if (digest := _digest(token)) not in seen:
            self._write(self._operator_folder / _SEEN / public, "\n".join([*seen, digest][-_MAX_SEEN:]))

    def has_seen(self, public: str, token: str) -> bool:
        """Return whether an account's JWT is one that this store has had; True if jsctl has never changed or
        pushed the account from it: nsc and nats remember none."""
        seen = self._read_seen(public)
        return not seen or _digest(token) in seen

    def _read_seen(self, public: str) -> list[str]:
        path = self._operator_folder / _SEEN / public
        return read_text(path).split() if path.exists() else []

    def write_user(self, account: str, user: str, token: str, key: KeyPair | None) -> None:
        """Write a user's JWT, and its credentials if the key is known. Raises OSError."""
        self._write(self.get_user_path(account, user), token)
        if key:
            self._write(self.get_creds_path(account, user), format_creds(token, key.seed))

    def write_removed(self, public: str, token: str) -> None:
        """Write the JWT of an account that is about to be removed. Raises OSError."""
        self._write(self.removed_folder / f"{public}{_JWT}", token)

    def write_seed(self, key: KeyPair) -> None:
        """Write a seed. Raises OSError."""
        ignored = self.folders.keys / ".gitignore"
        if not ignored.exists():
            self._write(ignored, _IGNORED)
        self._write(self.get_seed_path(key.public), key.seed)

    def remove_seed(self, public: str) -> None:
        """Remove a seed, if it is there. Raises OSError."""
        if public:
            self.get_seed_path(public).unlink(missing_ok=True)

    def remove_user(self, account: str, user: str) -> None:
        """Remove a user's JWT and credentials; the seed stays. Raises OSError."""
        self.get_user_path(account, user).unlink(missing_ok=True)
        self.get_creds_path(account, user).unlink(missing_ok=True)

    def remove_account(self, account: str) -> None:
        """Remove an account, its users and their credentials; seeds stay. Raises OSError.

        The account's own JWT is removed first: without it, no tool sees the rest.
        """
        self.get_account_path(account).unlink(missing_ok=True)
        shutil.rmtree(self.get_account_path(account).parent)
        shutil.rmtree(self.get_creds_path(account, "any").parent, ignore_errors=True)

    def _build_description(self) -> str:
        description = {"managed": False, "name": self.operator, "kind": "operator", "version": "1"}
        return json.dumps(description, separators=(",", ":"))

    def _write(self, path: Path, text: str) -> None:
        make_private_folder(path.parent)
        write_atomically(path, text)


def _read(name: str, path: Path, kind: str, missing: tuple[str, str]) -> tuple[str, Json]:
    """Return a JWT and its claims. Raises NotFound, BadInput for a broken file."""
    if not is_name(name) or not path.exists():
        raise NotFound(*missing)
    try:
        token = read_text(path, regular=True).strip()
        return token, check_shape(decode_jwt(token), kind)
    except BadInput as error:
        if str(path) in error.message:
            raise
        raise JsctlError(f"{escape_path(path)} is broken: {error.message}", error.hint) from None


def _digest(token: str) -> str:
    return hashlib.sha256(token.strip().encode()).hexdigest()[:32]


def format_creds(token: str, seed: str) -> str:
    """Return the text of a credentials file: a user's JWT and seed between nkeys' decorations."""
    return (
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        "************************* IMPORTANT *************************\n"
        "The seed below proves who the user is. Keep it secret.\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n\n"
        "*************************************************************\n"
    )


def extract_jwt(text: str) -> str:
    """Return the JWT in the text of a credentials file; empty when there is none."""
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in lines if line.startswith("ey") and line.count(".") == 2), "")


def read_creds_jwt(path: Path) -> str:
    """Return the JWT in a credentials file; empty when there is no such file, or no JWT in it.

    A pipe, which can be read only once, is not read.
    """
    return extract_jwt(path.read_text("utf-8", "replace")) if path.is_file() else ""
