"""Whether a JWT is genuine: its signature fits its claims, and a key that may sign it made the signature.

This is the only place that decides it. Everything that is read from files, servers and backups goes through
one of the functions here before it is shown, changed or sent; a JWT that is not genuine has a `Doubt`.

An operator's own key signs the operator, a key of the operator its accounts, a key of the account its users.
Signing keys are keys of their owner only because the owner's JWT says so: nothing below a JWT that is not
genuine is genuine.
"""

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, NamedTuple

from jsctl.auth.claims import as_number, as_object, as_text, as_texts, map_signing_keys
from jsctl.auth.jwt import decode_header, is_signed
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER
from jsctl.base.command_lines import build_line
from jsctl.errors import JsctlError

Json = dict[str, Any]


class Doubt(NamedTuple):
    """Why a JWT is not genuine.

    kind, name: the owner of the JWT: "account", "SHOP"; for a user, name is ACCOUNT/USER. reason: to follow
    "the JWT of account SHOP". token: the JWT; empty for one that cannot be read.
    """

    kind: str
    name: str
    reason: str
    token: str = ""

    def __str__(self) -> str:
        return f"the JWT of {self.kind} {self.name} {self.reason}"


class NotGenuine(JsctlError):
    """A JWT is not genuine. Nothing that it claims is signed or sent."""

    def __init__(self, doubt: Doubt) -> None:
        names = doubt.name.split("/")[::-1]  # jsctl auth user edit USER ACCOUNT
        line = build_line(f"auth {doubt.kind} edit", *names, flags=["--accept-claims"])
        super().__init__(str(doubt), f"{line} shows what it claims, and signs that if you agree")


@lru_cache(maxsize=512)
def find_signature_problem(token: str, issuer: str, version: int) -> str:
    """Return why the signature of a JWT does not fit; empty when it does. version: of the claims."""
    header = decode_header(token)
    kind, algorithm = as_text(header.get("typ")).upper(), as_text(header.get("alg")).lower()
    if kind != "JWT" or algorithm not in ("ed25519-nkey", "ed25519"):
        return "has an invalid signature: its header names no algorithm that NATS uses"
    if not is_signed(token, issuer, version):
        return "has an invalid signature: it was changed or truncated after it was signed"
    return ""


def find_operator_doubt(name: str, token: str, claims: Json, has_seed: Callable[[str], bool]) -> Doubt | None:
    """Return why an operator's JWT is not genuine; None when it is.

    A signing key that only the JWT itself names proves nothing, unless its seed is at hand (`has_seed`).
    """
    public = as_text(claims.get("sub"))
    keys = [
        public,
        *(key for key in as_texts(as_object(claims.get("nats")).get("signing_keys")) if has_seed(key)),
    ]
    return _find_doubt(OPERATOR, name, token, claims, keys, "which is not the operator's own key")


def find_account_doubt(name: str, token: str, claims: Json, operator: Json) -> Doubt | None:
    """Return why an account's JWT is not genuine; None when it is. operator: claims of a genuine operator."""
    keys = [as_text(operator.get("sub")), *as_texts(as_object(operator.get("nats")).get("signing_keys"))]
    label = f"which is not a key of operator {as_text(operator.get('name'))}"
    return _find_doubt(ACCOUNT, name, token, claims, keys, label)


def find_user_doubt(name: str, token: str, claims: Json, account: Json, owner: str) -> Doubt | None:
    """Return why a user's JWT is not genuine; None when it is.

    account: claims of a genuine account. owner: its name.
    """
    keys = [as_text(account.get("sub")), *map_signing_keys(as_object(account.get("nats")))]
    label = f"which is not a key of account {owner}"
    return _find_doubt(USER, f"{owner}/{name}", token, claims, keys, label)


def find_activation_problem(token: str, claims: Json, source: str, exporter: Json | None = None) -> str:
    """Return why an activation token is not genuine; empty when it is.

    source: the public key of the exporting account. exporter: its claims; None if they are not known, and
    so its signing keys are not, either.
    """
    issuer, nats = as_text(claims.get("iss")), as_object(claims.get("nats"))
    if problem := find_signature_problem(token, issuer, as_number(nats.get("version"))):
        return problem
    if source not in (issuer, as_text(nats.get("issuer_account"))):
        return "was issued by another account than the one that the import names"
    if exporter and issuer != source and issuer not in map_signing_keys(as_object(exporter.get("nats"))):
        return "is signed by a key that the exporting account does not have"
    return ""


def _find_doubt(
    kind: str, name: str, token: str, claims: Json, keys: Collection[str], label: str
) -> Doubt | None:
    issuer = as_text(claims.get("iss"))
    version = as_number(as_object(claims.get("nats")).get("version"))
    if problem := find_signature_problem(token, issuer, version):
        return Doubt(kind, name, problem, token)
    if issuer not in keys:
        return Doubt(kind, name, f"is signed by {issuer or 'nobody'}, {label}", token)
    return None
