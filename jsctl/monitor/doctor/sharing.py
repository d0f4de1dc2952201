"""How to add missing exports and imports: commands for accounts of an operator, configuration for others."""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.monitor.doctor.imports import find_details, has_export
from jsctl.monitor.doctor.snapshot import Snapshot


class Gap(NamedTuple):
    """A missing import. importer, exporter: IDs of accounts. kind: "service" or "stream"."""

    importer: str
    exporter: str
    kind: str
    subject: str


def find_account_name(snapshot: Snapshot, account: str) -> str:
    """Return the name of the account with this ID; the ID when no server reports a name."""
    for detail in find_details(snapshot.servers, account):
        if detail.get("name_tag"):
            return str(detail["name_tag"])
    return account


def fix_gap(snapshot: Snapshot, gap: Gap, name: str) -> str:
    """Return the commands or configuration that add an import, and its export if that is missing, too.

    name: the name for both.
    """
    importer, exporter = find_account_name(snapshot, gap.importer), find_account_name(snapshot, gap.exporter)
    is_exported = _is_exported(snapshot, gap.exporter, gap.kind, gap.subject)
    if _has_operator(gap.exporter):
        flags = ["--service"] if gap.kind == "service" else []
        lines = [] if is_exported else [_build_command("exports", "add", name, gap.subject, exporter, *flags)]
        lines += [
            _build_command("imports", "add", name, gap.subject, importer, "--source", exporter, *flags),
            _build_command("push", exporter, importer),
        ]
        return " && ".join(lines)
    shared = "" if is_exported else f"{_format_export(exporter, gap.kind, gap.subject)}; "
    imported = f'{{{gap.kind}: {{account: {exporter}, subject: "{gap.subject}"}}}}'
    return f"{shared}in account {importer}: imports: [ {imported} ]; {_format_reload(snapshot, gap.importer)}"


def fix_invalid(snapshot: Snapshot, importer: str, exporter: str, claim: Mapping[str, Any]) -> str:
    """Return the commands or configuration that make a refused import valid. claim: the import."""
    kind, subject = str(claim.get("type") or "stream"), str(claim.get("subject"))
    if _is_exported(snapshot, exporter, kind, subject):
        return "the export is private: jsctl auth validate shows what is wrong with the activation token"
    name = find_account_name(snapshot, exporter)
    if not _has_operator(exporter):
        return f"{_format_export(name, kind, subject)}; {_format_reload(snapshot, exporter)}"
    flags = ["--service"] if kind == "service" else []
    lines = [
        _build_command("exports", "add", subject, subject, name, *flags),
        _build_command("push", name, find_account_name(snapshot, importer)),
    ]
    return " && ".join(lines)


def _format_reload(snapshot: Snapshot, account: str) -> str:
    """Return what makes the servers of an account reload their configuration."""
    names = sorted(server.name for server in snapshot.servers if account in server.accounts)
    lines = " && ".join(f"jsctl server config reload {name}" for name in names)
    return f"then reload: {lines or 'jsctl server config reload SERVER'}"


def _is_exported(snapshot: Snapshot, exporter: str, kind: str, subject: str) -> bool:
    return any(has_export(detail, kind, subject) for detail in find_details(snapshot.servers, exporter))


def _has_operator(account: str) -> bool:
    """Return whether an account's ID is a public key, as with an operator, and not its name in a
    configuration.
    """
    return is_public_key(account, ACCOUNT)


def _build_command(*words: str) -> str:
    return f"jsctl auth account {shlex.join(words)}"


def _format_export(account: str, kind: str, subject: str) -> str:
    return f'in account {account}: exports: [ {{{kind}: "{subject}"}} ]'
