"""Checks of an import's activation token (nats-io/jwt: v2/imports.go, v2/activation_claims.go; nats-server:
server/accounts.go, checkActivation)."""

from collections.abc import Iterator

from jsctl.auth import signatures
from jsctl.auth.check.fixes import build_import_line
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.check.subjects import find_subject_problem, is_contained
from jsctl.auth.claims import Json, as_number, as_object, as_text, find_remote_subject, find_revocation
from jsctl.auth.environment import read_claims
from jsctl.auth.keys import ACCOUNT, find_key_kind
from jsctl.auth.records import Account


def check_activation(
    account: Account, imported: Json, path: str, owner: Owner, now: float
) -> Iterator[Finding]:
    """Yield the problems of an import's activation token that the importing account alone reveals.

    now: seconds since 1970.
    """
    subject = as_text(imported.get("subject"))
    for problem in _find_problems(account.public, imported, now):
        yield owner.build_error(
            "import-token",
            f"{path}.token",
            f"the activation token of import {subject!r} {problem}",
            build_grant_line(account, imported, owner),
        )


def find_activation_problem(exporter: Account, export: Json, imported: Json) -> str:
    """Return why the exporting account does not accept an import's token; empty when it does."""
    token = as_text(imported.get("token"))
    if not (claims := read_claims(token)):
        return "cannot be read"
    if problem := signatures.find_activation_problem(token, claims, exporter.public, exporter.claims):
        return problem
    if find_revocation(export.get("revocations"), as_text(claims.get("sub")), as_number(claims.get("iat"))):
        return "is revoked by the exporting account"
    return ""


def build_grant_line(account: Account, imported: Json, owner: Owner) -> str:
    """Return the command line that gives an import a new token."""
    return build_import_line(account, owner, "edit", imported, "--activate")


def _find_problems(public: str, imported: Json, now: float) -> Iterator[str]:
    token = as_text(imported.get("token"))
    if not (claims := read_claims(token)):
        yield "cannot be read"
        return
    nats = as_object(claims.get("nats"))
    origin = as_text(imported.get("account"))
    if nats.get("type") != "activation":
        yield "is another kind of JWT"
        return
    if problem := signatures.find_activation_problem(token, claims, origin):
        yield problem
    if as_text(claims.get("sub")) != public:
        yield "was issued for another account"
    if as_text(nats.get("kind")) != as_text(imported.get("type")):
        yield f"is for another kind of export ({as_text(nats.get('kind')) or 'none'})"
    granted = as_text(nats.get("subject"))
    if problem := find_subject_problem(granted):
        yield f"is for subject {granted!r}, which {problem}"
    elif not is_contained(find_remote_subject(imported), granted):
        yield f"allows only {granted!r}"
    account = as_text(nats.get("issuer_account"))
    if account and find_key_kind(account) != ACCOUNT:
        yield f"names {account!r}, which is not the public key of an account"
    if 0 < as_number(claims.get("exp")) <= now:
        yield "has expired"
    if as_number(claims.get("nbf")) > now:
        yield "is not valid yet"
