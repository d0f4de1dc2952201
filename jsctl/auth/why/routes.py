"""Routes of messages between accounts: which import a subject matches, and which export it needs."""

from typing import NamedTuple

from jsctl.auth.check.across import Approval, approve_import
from jsctl.auth.claims import Json, as_text, find_local_pattern, find_remote_subject
from jsctl.auth.environment import Environment
from jsctl.auth.records import Account
from jsctl.errors import BadInput
from jsctl.nats.subjects import covers, overlaps
from jsctl.nats.transform import SubjectTransform


class Route(NamedTuple):
    """An import of an account. import_index: its index. subject: the subject in the exporting account."""

    import_index: int
    claims: Json
    subject: str
    approval: Approval


def find_imports(environment: Environment, account: Account, subject: str, kind: str = "") -> list[Route]:
    """Return the imports that a subject matches in an account, or that have this subject in the exporting
    account.

    kind: "stream" or "service"; empty for both.
    """
    routes = []
    for index, imported in enumerate(account.imports):
        local, remote_subject = find_local_pattern(imported), find_remote_subject(imported)
        if kind and imported.get("type") != kind:
            continue
        if overlaps(local, subject) or (not kind and subject == remote_subject):
            remote = _translate(imported, subject) if covers(local, subject) else remote_subject
            routes.append(Route(index, imported, remote, approve_import(environment, account, imported)))
    return routes


def find_offers(environment: Environment, account: Account, subject: str) -> list[tuple[Account, Json]]:
    """Return the exports of other accounts that cover a subject."""
    return [
        (other, export)
        for other in environment.accounts
        if other.public != account.public
        for export in other.exports
        if covers(as_text(export.get("subject")), subject)
    ]


def _translate(imported: Json, subject: str) -> str:
    """Return the exporting account's subject for a local subject."""
    local, remote = (
        as_text(imported.get("local_subject")) or find_local_pattern(imported),
        find_remote_subject(imported),
    )
    try:
        source = find_local_pattern(imported)
        return SubjectTransform(source, _number_wildcards(local, remote)).apply(subject) or remote
    except BadInput:
        return remote


def _number_wildcards(local: str, remote: str) -> str:
    """Return the exporter's subject with its wildcards numbered by their positions in the local subject, in
    which `$2` is the second wildcard of the exporter's subject."""
    tokens = [
        token for token in local.split(".") if token == "*" or (token[:1] == "$" and token[1:].isdigit())
    ]
    stars = iter(range(1, len(tokens) + 1))
    places = {int(t[1:]) if t != "*" else number: number for number, t in zip(stars, tokens, strict=True)}
    count, parts = 0, []
    for token in remote.split("."):
        count += token == "*"
        parts.append(f"${places.get(count, count)}" if token == "*" else token)
    return ".".join(parts)
