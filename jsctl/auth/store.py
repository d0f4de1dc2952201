"""The folder of operators, accounts and users that `nsc` and `nats auth` share (nsc: cmd/store/store.go,
cmd/store/keys.go).

    stores/OP/.nsc                       {"managed", "name", "kind", "version"}
    stores/OP/OP.jwt                     the operator's JWT
    stores/OP/accounts/ACC/ACC.jwt       an account's
    stores/OP/accounts/ACC/users/U.jwt   a user's
    keys/keys/A/DE/ADE....nk             a seed: the first letter of the key, then the next two
    keys/creds/OP/ACC/U.creds            credentials: the user's JWT and seed

Folders are 0700, files 0600 and written atomically.
"""

import json
from pathlib import Path

from jsctl.auth.keys import KeyPair
from jsctl.files import write_atomically


class AuthStore:
    """An operator's part of such a folder. root: the folder that holds `stores` and `keys`."""

    def __init__(self, root: Path, operator: str) -> None:
        self.root = root
        self.operator = operator
        self._operator_folder = root / "stores" / operator

    @property
    def operator_jwt(self) -> Path:
        """The file of the operator's JWT."""
        return self._operator_folder / f"{self.operator}.jwt"

    def account_jwt(self, account: str) -> Path:
        """The file of an account's JWT."""
        return self._operator_folder / "accounts" / account / f"{account}.jwt"

    def user_jwt(self, account: str, user: str) -> Path:
        """The file of a user's JWT."""
        return self._operator_folder / "accounts" / account / "users" / f"{user}.jwt"

    def creds(self, account: str, user: str) -> Path:
        """The file of a user's credentials."""
        return self.root / "keys" / "creds" / self.operator / account / f"{user}.creds"

    def seed(self, public: str) -> Path:
        """The file of the seed of a public key."""
        return self.root / "keys" / "keys" / public[0] / public[1:3] / f"{public}.nk"

    def write_operator(self, token: str) -> None:
        """Write the operator's JWT, and the description of the folder. Raises OSError."""
        self._write(self.operator_jwt, token)
        about = {"managed": False, "name": self.operator, "kind": "operator", "version": "1"}
        self._write(self._operator_folder / ".nsc", json.dumps(about))

    def write_account(self, account: str, token: str) -> None:
        """Write an account's JWT. Raises OSError."""
        self._write(self.account_jwt(account), token)

    def write_user(self, account: str, user: str, token: str, key: KeyPair) -> None:
        """Write a user's JWT and credentials. Raises OSError."""
        self._write(self.user_jwt(account, user), token)
        self._write(self.creds(account, user), format_creds(token, key.seed))

    def write_seed(self, key: KeyPair) -> None:
        """Write a seed. Raises OSError."""
        self._write(self.seed(key.public), key.seed)

    def _write(self, path: Path, text: str) -> None:
        for folder in (self.root, *reversed([p for p in path.parents if self.root in p.parents])):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, text)


def format_creds(token: str, seed: str) -> str:
    """Return the text of a credentials file: a user's JWT and seed, as nkeys' decorated files have them."""
    return (
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        "************************* IMPORTANT *************************\n"
        "The seed below proves who the user is. Keep it secret.\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n\n"
        "*************************************************************\n"
    )
