"""`doctor`: each finding with what was seen, why it matters and what mends it."""

from collections.abc import Sequence

from jsctl.errors import ExitStatus
from jsctl.monitor.doctor.diagnosis import RULES
from jsctl.monitor.doctor.finding import Finding
from jsctl.monitor.doctor.snapshot import Json, Snapshot
from jsctl.units import format_count, format_rfc3339, to_ns
from jsctl.views.result import Column, Part, Result, Table, Text
from jsctl.views.shared.tables import recorder

_COLUMNS = (
    Column("Code", "code"),
    Column("About", "about", "prose"),
    Column("Seen", "seen", "prose"),
    Column("Why it matters", "why", "prose"),
    Column("Mend", "mend", "prose"),
)
_RECORD = recorder(("code", "about", "seen", "why", "mend", "objects"))


def show(snapshot: Snapshot, findings: Sequence[Finding]) -> Result:
    """Show what is wrong; the exit status says whether anything is."""
    parts: list[Part] = []
    for finding in findings:
        parts.append(Text(f"{finding.code}: {finding.about}", "bad"))
        parts.append(Text(f"  seen: {finding.seen}\n  why: {finding.why}\n  mend: {finding.mend}\n"))
    parts += [Text(f"not looked at: {gap}", "dim") for gap in _gaps(snapshot)]
    parts.append(_summary(snapshot, findings))
    table = Table("Findings", _COLUMNS, [finding[:5] for finding in findings])
    return Result(
        parts,
        data=lambda: _document(snapshot, findings),
        status=ExitStatus.FAILURE if findings else ExitStatus.OK,
        table=table,
    )


def rules() -> Result:
    """Show the codes of findings."""
    rows = [(rule.code, rule.means) for rule in RULES]
    return Result([Table("Findings", (Column("Code", "code"), Column("Means", "means", "prose")), rows)])


def _summary(snapshot: Snapshot, findings: Sequence[Finding]) -> Text:
    streams = sum(len(view.streams) for view in snapshot.domains)
    looked = (
        f"{_count(len(snapshot.contexts), 'context')}, {_count(len(snapshot.domains), 'domain')},"
        f" {_count(streams, 'stream')} and {_count(len(snapshot.servers), 'server')}"
    )
    if not findings:
        return Text(f"Nothing is wrong with {looked}", "good")
    return Text(f"{_count(len(findings), 'finding')} on {looked}", "bad")


def _count(number: int, noun: str) -> str:
    return f"{format_count(number)} {noun}{'' if number == 1 else 's'}"


def _gaps(snapshot: Snapshot) -> list[str]:
    gaps = list(snapshot.gaps)
    if not snapshot.has_system and any(context.error is None for context in snapshot.contexts):
        gaps.append(
            "imports and exports, leaf nodes, API levels: this needs a context of the system account, too"
        )
    return gaps


def _document(snapshot: Snapshot, findings: Sequence[Finding]) -> Json:
    return {
        "at": format_rfc3339(to_ns(snapshot.at)),
        "findings": [_RECORD(finding) for finding in findings],
        "contexts": [
            {
                "context": context.name,
                "account": context.account_name or None,
                "system": context.is_system,
                "error": str(context.error) if context.error else None,
            }
            for context in snapshot.contexts
        ],
        "domains": [
            {
                "domain": view.domain or None,
                "account": view.account_name or None,
                "context": view.context,
                "prefix": view.prefix,
                "streams": len(view.streams),
                "error": str(view.error) if view.error else None,
            }
            for view in snapshot.domains
        ],
        "servers": [server.name for server in snapshot.servers],
        "left_out": _gaps(snapshot),
    }
