"""How to add missing exports and imports: commands for accounts of an operator, configuration for others."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.base.command_lines import build_flag, build_line
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
        lines = [] if is_exported else [_add_export(name, gap.subject, exporter, flags)]
        flags = [*build_flag("--source", exporter), *flags]
        lines += [
            build_line("auth account imports add", name, gap.subject, importer, flags=flags),
            build_line("auth account push", exporter, importer),
        ]
        return " && ".join(lines)
    shared = "" if is_exported else f"{_format_export(exporter, gap.kind, gap.subject)}; "
    imported = f'{{{gap.kind}: {{account: {exporter}, subject: "{gap.subject}"}}}}'
    return f"{shared}in account {importer}: imports: [ {imported} ]; {_format_reload(snapshot, gap.importer)}"


def fix_invalid(snapshot: Snapshot, importer: str, exporter: str, claim: Mapping[str, Any]) -> str:
    """Return the commands or configuration that make a refused import valid. claim: the import."""
    kind, subject = str(claim.get("type") or "stream"), str(claim.get("subject"))
    if _is_exported(snapshot, exporter, kind, subject):
        return f"the export is private: {build_line('auth validate')} shows what is wrong with its token"
    name = find_account_name(snapshot, exporter)
    if not _has_operator(exporter):
        return f"{_format_export(name, kind, subject)}; {_format_reload(snapshot, exporter)}"
    flags = ["--service"] if kind == "service" else []
    lines = [
        _add_export(subject, subject, name, flags),
        build_line("auth account push", name, find_account_name(snapshot, importer)),
    ]
    return " && ".join(lines)


def _add_export(name: str, subject: str, account: str, flags: Sequence[str]) -> str:
    return build_line("auth account exports add", name, subject, account, flags=flags)


def _format_reload(snapshot: Snapshot, account: str) -> str:
    """Return what makes the servers of an account reload their configuration."""
    names = sorted(server.name for server in snapshot.servers if account in server.accounts)
    lines = [snapshot.build_system_line("server config reload", name) for name in names]
    return f"then reload: {' && '.join(lines)}" if lines else "then reload the configuration of its servers"


def _is_exported(snapshot: Snapshot, exporter: str, kind: str, subject: str) -> bool:
    return any(has_export(detail, kind, subject) for detail in find_details(snapshot.servers, exporter))


def _has_operator(account: str) -> bool:
    """Return whether an account's ID is a public key, as with an operator, and not its name in a
    configuration.
    """
    return is_public_key(account, ACCOUNT)


def _format_export(account: str, kind: str, subject: str) -> str:
    return f'in account {account}: exports: [ {{{kind}: "{subject}"}} ]'
