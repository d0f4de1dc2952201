"""Imports that form a cycle (nats-server: server/accounts.go, checkServiceImportsForCycles and
checkStreamImportsForCycles)."""

from jsctl.auth.claims import Json, as_text, find_local_pattern, find_remote_subject
from jsctl.auth.environment import Account, Environment
from jsctl.nats.subjects import covers, overlaps


def find_cycle(environment: Environment, account: Account, imported: Json) -> list[str]:
    """Return the keys of the accounts through which an import returns to its own account; empty when it does
    not."""
    exporter = environment.account_of(as_text(imported.get("account")))
    if exporter is None:
        return []
    if imported.get("type") == "service":
        return _follow_services(environment, exporter, find_local_pattern(imported), [account.public])
    for subject in (find_local_pattern(imported), find_remote_subject(imported)):
        if circle := _follow_streams(environment, exporter, subject, [account.public]):
            return circle
    return []


def _follow_services(environment: Environment, account: Account, subject: str, way: list[str]) -> list[str]:
    for imported in account.imports:
        if imported.get("type") != "service" or not overlaps(subject, find_remote_subject(imported)):
            continue
        following = find_local_pattern(imported) if covers(find_local_pattern(imported), subject) else subject
        if circle := _go_on(environment, account, imported, following, way, services=True):
            return circle
    return []


def _follow_streams(environment: Environment, account: Account, subject: str, way: list[str]) -> list[str]:
    exports = [as_text(export.get("subject")) for export in account.exports if export.get("type") == "stream"]
    if not any(covers(offered, subject) for offered in exports):
        return []
    for imported in account.imports:
        local = find_local_pattern(imported)
        if imported.get("type") != "stream" or not overlaps(subject, local):
            continue
        following = local if covers(local, subject) else subject
        if circle := _go_on(environment, account, imported, following, way, services=False):
            return circle
    return []


def _go_on(
    environment: Environment,
    account: Account,
    imported: Json,
    subject: str,
    way: list[str],
    *,
    services: bool,
) -> list[str]:
    origin = as_text(imported.get("account"))
    if origin in way:
        return [*way, account.public, origin]
    following = environment.account_of(origin)
    if following is None or account.public in way:
        return []
    follow = _follow_services if services else _follow_streams
    return follow(environment, following, subject, [*way, account.public])
