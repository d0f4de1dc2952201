"""`doctor --fix`: the command lines that end findings, and what came of them."""

from collections.abc import Sequence

from jsctl.base.command_lines import format_arguments
from jsctl.base.units import format_count, pluralize
from jsctl.monitor.doctor.repairing import Step
from jsctl.monitor.doctor.snapshot import Json, Snapshot
from jsctl.monitor.trouble import Trouble
from jsctl.views import doctor
from jsctl.views.intent import NOTHING
from jsctl.views.result import Column, Lines, Part, Result, Table, Text

_COLUMNS = (
    Column("Code", "code"),
    Column("About", "about", "prose"),
    Column("Command", "line", "prose"),
    Column("Outcome", "outcome"),
    Column("Why", "why", "prose"),
)
_OUTCOMES = {
    "not_run": "not run",
    "run": "run, and neither seen to help nor undone",
    "fixed": "fixed",
    "not_needed": "not needed any more",
    "failed": "the command failed",
    "undone": "undone",
    "not_undone": "did not help, and was not undone",
}


def format_plan(steps: Sequence[Step]) -> list[str]:
    """Return the steps for people: each with what it ends, its command line, and what undoes it."""
    lines = []
    for number, step in enumerate(steps, 1):
        finding, (command, undo) = step.finding, step.repair
        lines += [
            f"{format_count(number)}. {_name(finding)}: {finding.says}",
            f"   {format_arguments(command)}",
            f"   undone by: {format_arguments(undo)}" if undo else "   cannot be undone",
        ]
    return lines


def format_question(steps: Sequence[Step]) -> str:
    """Return the question before the steps are run."""
    return f"Really run {'this command' if len(steps) == 1 else f'these {format_count(len(steps))} commands'}"


def show_plan(snapshot: Snapshot, findings: Sequence[Trouble], steps: Sequence[Step]) -> Result:
    """Show what would be run, and the findings that a person has to fix."""
    heading = f"Would run {pluralize(len(steps), 'command')}, one after the other:"
    parts: list[Part] = [Lines([heading, *format_plan(steps)])] if steps else []
    others = [finding for finding in findings if finding.repair is None]
    return _build(
        snapshot, findings, others, steps, [*parts, *_head(others, steps, "To be fixed by a person")]
    )


def show_outcome(snapshot: Snapshot, findings: Sequence[Trouble], steps: Sequence[Step]) -> Result:
    """Show what came of each step, and what is still wrong."""
    parts: list[Part] = [Lines(format_outcomes(steps))] if steps else []
    parts += _head(findings, steps, "Still wrong")
    return _build(snapshot, findings, findings, steps, parts, is_dry=False)


def format_outcomes(steps: Sequence[Step]) -> list[str]:
    """Return what came of each step."""
    lines = []
    for step in steps:
        lines.append(f"{_name(step.finding)}: {_OUTCOMES[step.outcome]}{f': {step.why}' if step.why else ''}")
        lines.append(f"   {format_arguments(step.repair.command)}")
        if step.outcome == "run" and step.repair.undo:
            lines.append(f"   undone by: {format_arguments(step.repair.undo)}")
    return lines


def _build(
    snapshot: Snapshot,
    findings: Sequence[Trouble],
    shown: Sequence[Trouble],
    steps: Sequence[Step],
    parts: Sequence[Part],
    is_dry: bool = True,
) -> Result:
    """Return the page of `doctor` with the steps before it. shown: the findings that it describes."""
    page = doctor.show(snapshot, findings)
    described = doctor.show(snapshot, shown).parts[:-1]
    end: list[Part] = [page.parts[-1], *([Text(NOTHING)] if is_dry else [])]
    document = page.document()
    records = [_record(step) for step in steps]
    rows = [tuple(record[column.key] for column in _COLUMNS) for record in records]
    return page._replace(
        parts=[*parts, *described, *end],
        data={"dry_run": is_dry, "steps": records, **document},
        table=Table("Steps", _COLUMNS, rows),
    )


def _head(shown: Sequence[Trouble], steps: Sequence[Step], title: str) -> list[Part]:
    return [Text(f"{title if steps else 'No finding has an automatic fix'}:")] if shown else []


def _name(finding: Trouble) -> str:
    return f"{finding.about[:1].upper()}{finding.about[1:]} ({finding.code})"


def _record(step: Step) -> Json:
    finding, repair = step.finding, step.repair
    return {
        "code": finding.code,
        "about": finding.about,
        "seen": finding.says,
        "command": [*repair.command],
        "line": format_arguments(repair.command),
        "undo": [*repair.undo] if repair.undo else None,
        "outcome": step.outcome,
        "why": step.why or None,
    }
