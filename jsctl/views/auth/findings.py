"""`auth validate`: findings about operators, accounts and users."""

from collections.abc import Iterator, Sequence

from jsctl.auth.check.model import Finding, has_errors
from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.views.result import Column, Lines, Part, Result, Text, build_table, recorder

_COLUMNS = (
    Column("Severity", "severity"),
    Column("Code", "code"),
    Column("Where", "where"),
    Column("Claim", "path"),
    Column("Problem", "message", "prose"),
    Column("Fix", "fix", "prose"),
)
_record = recorder(("severity", "code", "operator", "account", "user", "path", "message", "fix"))


def findings_result(findings: Sequence[Finding], scope: str) -> Result:
    """Show findings; the status is a failure if one is an error. scope: what was checked, "operator OP"."""
    table = build_table("Findings", _COLUMNS, findings)
    errors = sum(finding.severity == "error" for finding in findings)
    data = {
        "errors": errors,
        "warnings": len(findings) - errors,
        "findings": list(map(_record, findings)),
    }
    status = ExitStatus.FAILURE if has_errors(findings) else ExitStatus.OK
    if not findings:
        return Result([Text(f"Nothing is wrong with {scope}", "good")], data=data, table=table)
    counts = [pluralize(errors, "error")] if errors else []
    if len(findings) > errors:
        counts.append(pluralize(len(findings) - errors, "warning"))
    parts: list[Part] = []
    for finding in findings:
        parts.append(Lines([*_format_finding(finding)], "bad" if finding.severity == "error" else "warn"))
        parts.append(Text(f"    {finding.fix}\n", whole=True))
    return Result([*parts, Text(" and ".join(counts))], data=data, status=status, table=table)


def format_findings(findings: Sequence[Finding]) -> str:
    """Format findings as text, to be shown before a question or an error."""
    return "\n".join(
        line for finding in findings for line in [*_format_finding(finding), f"    {finding.fix}"]
    )


def _format_finding(finding: Finding) -> Iterator[str]:
    path = f", {finding.path}" if finding.path else ""
    yield f"{finding.severity}: {finding.where}{path}: {finding.message}"
