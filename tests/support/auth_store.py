"""Operators, accounts and users for tests: signed as they are written down, valid or not."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsctl.auth.environment import Environment, read_environment
from jsctl.auth.folders import StoreFolders
from jsctl.auth.jwt import encode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, KeyPair, create_key
from jsctl.auth.store import AuthStore

Json = dict[str, Any]

UNLIMITED: Json = {
    **dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1),
    "wildcards": True,
}
FREE: Json = {"subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {}}
"""The claims of a user without limits."""


def root_of(store: AuthStore) -> Path:
    """Return the folder that holds both folders of a store."""
    return store.folders.stores.parent


class Store:
    """A store with an operator OP and a system account SYS; more is added."""

    def __init__(self, root: Path, **operator: Any) -> None:
        self.files = AuthStore(StoreFolders.below(root), "OP")
        self.root = root
        self.key = create_key(OPERATOR)
        self.accounts: dict[str, KeyPair] = {}
        self.users: dict[str, KeyPair] = {}
        self.operator_claims: Json = {}
        self.claims: dict[str, Json] = {}
        self.files.write_seed(self.key)
        system = create_key(ACCOUNT)
        self.operator(system_account=system.public, **operator)
        self.account("SYS", key=system)

    def operator(self, *, signer: KeyPair | None = None, top: Mapping[str, Any] = {}, **nats: Any) -> None:
        """Rewrite the operator, with the claims `nats` in place of those it had."""
        self.operator_claims = {**self.operator_claims, **nats}
        claims = {"type": "operator", "version": 2, **self.operator_claims}
        self.files.write_operator(self.sign(self.key, "OP", claims, signer or self.key, top))

    def account(
        self,
        name: str,
        *,
        key: KeyPair | None = None,
        signer: KeyPair | None = None,
        top: Mapping[str, Any] = {},
        **nats: Any,
    ) -> KeyPair:
        """Rewrite an account, with the claims `nats` in place of those it had.

        top: claims beside `nats`.
        """
        pair = self.accounts.setdefault(name, key or create_key(ACCOUNT))
        self.files.write_seed(pair)
        self.claims[name] = {
            "type": "account",
            "version": 2,
            "limits": UNLIMITED,
            "default_permissions": {"pub": {}, "sub": {}},
            **self.claims.get(name, {}),
            **nats,
        }
        self.files.write_account(name, self.sign(pair, name, self.claims[name], signer or self.key, top))
        return pair

    def user(
        self,
        account: str,
        name: str,
        *,
        signer: KeyPair | None = None,
        top: Mapping[str, Any] = {},
        nats: Json | None = None,
        **more: Any,
    ) -> Path:
        """Rewrite a user and return the credentials file.

        nats: all claims, in place of FREE and `more`.
        """
        pair = self.users.setdefault(f"{account}/{name}", create_key(USER))
        self.files.write_seed(pair)
        claims = {"type": "user", "version": 2, **({**FREE, **more} if nats is None else nats)}
        if signer is not None and "issuer_account" not in claims:
            claims["issuer_account"] = self.accounts[account].public
        token = self.sign(pair, name, claims, signer or self.accounts[account], top)
        self.files.write_user(account, name, token, pair)
        return self.files.get_creds_path(account, name)

    def activation(
        self, exporter: str, importer: str, subject: str, kind: str, top: Mapping[str, Any] = {}, **nats: Any
    ) -> str:
        """Return a token that lets an account import."""
        claims = {"type": "activation", "version": 2, "subject": subject, "kind": kind, **nats}
        return self.sign(self.accounts[importer], subject, claims, self.accounts[exporter], top)

    def sign(
        self, subject: KeyPair, name: str, nats: Json, signer: KeyPair, top: Mapping[str, Any] = {}
    ) -> str:
        """Return a JWT with these claims."""
        return encode_jwt({"sub": subject.public, "name": name, **top, "nats": nats}, signer)

    def read(self) -> Environment:
        """Read the store."""
        return read_environment(self.files.folders, "OP")

    def token(self, account: str) -> str:
        """Return an account's JWT."""
        return self.files.get_account_path(account).read_text()

    def server_config(self) -> str:
        """Return the configuration of a server of this operator with a full resolver, with the placeholders
        `{port}` and `{store}`.

        The present accounts are preloaded.
        """
        preload = "\n".join(f"  {key.public}: {self.token(name)}" for name, key in self.accounts.items())
        return f"""
listen: "127.0.0.1:{{port}}"
operator: {json.dumps(self.files.operator_jwt.read_text())}
system_account: {self.accounts["SYS"].public}
resolver: {{ type: full, dir: "{{store}}/jwt", allow_delete: true }}
resolver_preload: {{
{preload}
}}
"""


ORDERS = {"name": "orders", "subject": "orders.>", "type": "stream"}
BILL = {"name": "bill", "subject": "bill.*.req", "type": "service"}
"""Exports of an account."""
