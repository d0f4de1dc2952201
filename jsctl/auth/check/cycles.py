"""The search for imports that form a cycle (nats-server: server/accounts.go, checkServiceImportsForCycles and
checkStreamImportsForCycles)."""

from jsctl.auth.claims import Json, as_text, find_local_pattern, find_remote_subject
from jsctl.auth.environment import Environment
from jsctl.auth.records import Account
from jsctl.nats.subjects import covers, overlaps


def find_cycle(environment: Environment, account: Account, imported: Json) -> list[str]:
    """Return the keys of the accounts through which an import returns to its own account; empty when it does
    not."""
    exporter = environment.get_account(as_text(imported.get("account")))
    if exporter is None:
        return []
    if imported.get("type") == "service":
        return _follow_services(environment, exporter, find_local_pattern(imported), [account.public])
    for subject in (find_local_pattern(imported), find_remote_subject(imported)):
        if cycle := _follow_streams(environment, exporter, subject, [account.public]):
            return cycle
    return []


def _follow_services(environment: Environment, account: Account, subject: str, path: list[str]) -> list[str]:
    for imported in account.imports:
        if imported.get("type") != "service" or not overlaps(subject, find_remote_subject(imported)):
            continue
        next_subject = (
            find_local_pattern(imported) if covers(find_local_pattern(imported), subject) else subject
        )
        if cycle := _follow_import(environment, account, imported, next_subject, path, services=True):
            return cycle
    return []


def _follow_streams(environment: Environment, account: Account, subject: str, path: list[str]) -> list[str]:
    exports = [as_text(export.get("subject")) for export in account.exports if export.get("type") == "stream"]
    if not any(covers(offered, subject) for offered in exports):
        return []
    for imported in account.imports:
        local = find_local_pattern(imported)
        if imported.get("type") != "stream" or not overlaps(subject, local):
            continue
        next_subject = local if covers(local, subject) else subject
        if cycle := _follow_import(environment, account, imported, next_subject, path, services=False):
            return cycle
    return []


def _follow_import(
    environment: Environment,
    account: Account,
    imported: Json,
    subject: str,
    path: list[str],
    *,
    services: bool,
) -> list[str]:
    origin = as_text(imported.get("account"))
    if origin in path:
        return [*path, account.public, origin]
    next_account = environment.get_account(origin)
    if next_account is None or account.public in path:
        return []
    follow = _follow_services if services else _follow_streams
    return follow(environment, next_account, subject, [*path, account.public])
