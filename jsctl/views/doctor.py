"""`doctor`: each finding with what was seen, why it matters and how to fix it."""

from collections.abc import Sequence

from jsctl.errors import ExitStatus
from jsctl.monitor.doctor.diagnosis import RULES
from jsctl.monitor.doctor.finding import Finding
from jsctl.monitor.doctor.snapshot import Json, Snapshot
from jsctl.units import format_rfc3339, pluralize, to_ns
from jsctl.views.result import Cell, Column, Field, Part, Result, Section, Sheet, Table, Text
from jsctl.views.shared.tables import recorder

_COLUMNS = (
    Column("Code", "code"),
    Column("About", "about", "prose"),
    Column("Seen", "seen", "prose"),
    Column("Why it matters", "why", "prose"),
    Column("Fix", "mend", "prose"),
)
_RECORD = recorder(("code", "about", "seen", "why", "mend", "objects"))


def show(snapshot: Snapshot, findings: Sequence[Finding]) -> Result:
    """Show what is wrong; the exit status says whether anything is."""
    parts: list[Part] = []
    if findings:
        parts.append(Sheet("", [_build_section(finding) for finding in findings]))
    parts += [Text(f"not checked: {gap}", "dim") for gap in _list_gaps(snapshot)]
    parts.append(_build_summary(snapshot, findings))
    table = Table("Findings", _COLUMNS, [finding[:5] for finding in findings])
    return Result(
        parts,
        data=lambda: _build_document(snapshot, findings),
        status=ExitStatus.FAILURE if findings else ExitStatus.OK,
        table=table,
    )


def _build_section(finding: Finding) -> Section:
    about = finding.about[:1].upper() + finding.about[1:]
    fields = (
        Field("Seen", Cell(finding.seen, finding.seen, "bad"), "prose"),
        Field("Why it matters", finding.why, "prose"),
        Field("Fix", finding.mend, "prose"),
    )
    return Section(f"{about} ({finding.code})", fields)


def rules() -> Result:
    """Show the codes of findings."""
    rows = [(rule.code, rule.means) for rule in RULES]
    return Result([Table("Findings", (Column("Code", "code"), Column("Means", "means", "prose")), rows)])


def _build_summary(snapshot: Snapshot, findings: Sequence[Finding]) -> Text:
    streams = sum(len(view.streams) for view in snapshot.domains)
    domains = {view.domain or view.context for view in snapshot.domains}
    scope = (
        f"{pluralize(len(snapshot.contexts), 'context')}, {pluralize(len(domains), 'domain')},"
        f" {pluralize(streams, 'stream')} and {pluralize(len(snapshot.servers), 'server')}"
    )
    if not findings and not snapshot.domains and not snapshot.has_system:
        return Text("Only the connection was checked: no JetStream is available", "warn")
    if not findings:
        return Text(f"Nothing is wrong with {scope}", "good")
    return Text(f"{pluralize(len(findings), 'finding')} on {scope}", "bad")


def _list_gaps(snapshot: Snapshot) -> list[str]:
    gaps = list(snapshot.gaps)
    if not snapshot.has_system and any(context.error is None for context in snapshot.contexts):
        gaps.append(
            "imports and exports, leaf nodes and API levels, which need a context of the system account, too"
        )
    return gaps


def _build_document(snapshot: Snapshot, findings: Sequence[Finding]) -> Json:
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
        "left_out": _list_gaps(snapshot),
    }
