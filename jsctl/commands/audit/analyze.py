"""`jsctl audit analyze`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from jsctl.base.files import is_replaced, naming_write_errors, write_atomically
from jsctl.base.units import format_time
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.audit.analysis import analyze as run_checks
from jsctl.monitor.audit.analysis import load_report
from jsctl.monitor.audit.archive import Archive
from jsctl.views.intent import file_intent
from jsctl.views.result import Cell, Column, Field, InfoPage, Part, Result, Section, Style, Table, Text

_Json = dict[str, Any]

_STYLES: Mapping[str, Style] = {"PASS": "good", "WARN": "warn", "FAIL": "bad", "SKIP": "dim"}
_COLUMNS = (
    Column("Outcome", "outcome"),
    Column("Code", "code"),
    Column("Description", "description", "prose"),
    Column("Example", "example", "prose"),
)
_THRESHOLDS = Column("Thresholds", "thresholds", "prose")
_ORIGIN: Mapping[str, str] = {
    "connect_url": "Connection Server",
    "connected_server_version": "Server Version",
    "version": "Creator",
    "user_name": "User",
}


def _show_report(document: _Json, path: str, limit: int, *, verbose: bool) -> Result:
    """Show a report. path: of the archive or of the saved report. limit: examples of a check; 0 for all.

    verbose: with the thresholds.
    """
    checks, findings, rows = [], [], []
    for result in document["checks"]:
        check, outcome = result["check"], result["outcome_string"]
        code, description = check["code"], check["description"]
        cell = Cell(outcome, outcome, _STYLES.get(outcome, ""))
        checks.append((cell, code, description, _format_thresholds(check)))
        sentences = list(_list_sentences(result, limit))
        if sentences:
            findings.append(Field(f"{outcome} {code}", sentences))
        rows += [(cell, code, description, sentence) for sentence in sentences or [""]]
    columns = (*_COLUMNS[:3], _THRESHOLDS) if verbose else _COLUMNS[:3]
    title = f"Audit of {path}, gathered {_format_gathered(document)}"
    parts: list[Part] = [Table(title, columns, [row[: len(columns)] for row in checks])]
    if findings:
        parts.append(InfoPage("Findings", [Section("", findings)]))
    if sections := [_build_doctor_section(finding) for finding in document.get("doctor") or ()]:
        parts.append(InfoPage("Findings of jsctl doctor", sections))
    metadata = document.get("metadata") or {}
    origin = [Field(label, metadata[key]) for key, label in _ORIGIN.items() if metadata.get(key)]
    counts = [Field(name, count, "count") for name, count in document["outcomes"].items()]
    parts.append(InfoPage("Report Summary", [Section("Archive", origin), Section("Checks", counts)]))
    return Result(parts, data=document, table=Table("Audit", _COLUMNS, rows))


def _build_doctor_section(finding: _Json) -> Section:
    fields = [
        Field(label, str(finding[key]))
        for key, label in (("seen", "Seen"), ("why", "Why"), ("fix", "Fix"))
        if finding.get(key)
    ]
    return Section(f"{finding['code']}: {finding['about']}", fields)


def _show_markdown(document: _Json, limit: int) -> Result:
    """Show a report as Markdown."""
    metadata = document.get("metadata") or {}
    lines = [
        "# NATS audit report",
        "",
        f"Gathered {_format_gathered(document)} from **{_escape(metadata.get('connect_url', ''))}**"
        f" by **{_escape(metadata.get('user_name', ''))}**",
        "",
        "| Outcome | Checks |",
        "| --- | --- |",
        *(f"| {name} | {count} |" for name, count in document["outcomes"].items()),
    ]
    suite = ""
    for result in sorted(
        document["checks"], key=lambda entry: (entry["check"].get("suite", ""), entry["check"]["code"])
    ):
        check = result["check"]
        if check.get("suite", "") != suite:
            suite = check.get("suite", "")
            lines += ["", f"## {_escape(suite)}"]
        title = f"{check['code']}: {check['description']}"
        lines += ["", f"### {_escape(title)}", "", f"Outcome: **{result['outcome_string']}**"]
        if sentences := list(_list_sentences(result, limit)):
            lines += ["", *(f"- {_escape(sentence)}" for sentence in sentences)]
    if findings := document.get("doctor"):
        lines += ["", "## jsctl doctor"]
    for finding in findings or ():
        lines += ["", f"### {_escape(finding['code'])}: {_escape(finding['about'])}", ""]
        lines += [f"- {key}: {_escape(finding[key])}" for key in ("seen", "why", "fix") if finding.get(key)]
    return Result([Text("\n".join(lines), whole=True)], data=document)


def _format_gathered(document: _Json) -> str:
    stamp = (document.get("metadata") or {}).get("capture_timestamp")
    try:
        return format_time(stamp) if stamp else "at an unknown time"
    except ValueError:
        return str(stamp)


def _format_thresholds(check: _Json) -> str:
    return ", ".join(
        f"{key} ({threshold.get('default', 0):,.15g})"
        for key, threshold in (check.get("configuration") or {}).items()
    )


def _list_sentences(result: _Json, limit: int) -> Iterator[str]:
    """Yield the examples of a check, and how many more there are; or why it was skipped."""
    examples = result.get("examples") or {}
    sentences = examples.get("examples") or []
    shown = sentences[:limit] if limit else sentences
    yield from map(str, shown)
    if more := len(sentences) - len(shown) + int(examples.get("more", 0)):
        yield f"{more:,} more"
    if examples.get("error"):
        yield str(examples["error"])


def _escape(text: object) -> str:
    """Return a text with all characters escaped that Markdown would read as markup."""
    return "".join("\\" + char if char in "\\`*_{}[]<>()#+!|~" else char for char in str(text))


@dataclass(frozen=True, slots=True)
class Options:
    archive: str
    max_examples: int
    skip: tuple[str, ...]
    load: str
    save: str
    force: bool
    markdown: bool
    verbose: bool

    def __post_init__(self) -> None:
        if bool(self.archive) == bool(self.load):
            raise BadInput("there is nothing to analyze", "name an archive, or a saved report with --load")
        if self.load and (self.save or self.skip):
            raise BadInput("--load cannot be used with --save and --skip", "it shows what was saved")


@command(
    "analyze",
    columns=(),
    examples=[
        "jsctl audit analyze audit.zip",
        "jsctl audit analyze audit.zip --skip SERVER_007 --save report.json",
        "jsctl audit analyze --load report.json --markdown",
    ],
)
@argument("archive", required=False, default="", type=click.Path())
@option("--max-examples", type=click.IntRange(min=0), default=5, help="Examples of each check, 0 for all (5)")
@option("--skip", metavar="CODE", multiple=True, help="Do not run this check; may be repeated")
@option("--load", metavar="FILE", default="", help="Show a report that was saved")
@option("--save", metavar="FILE", default="", help="Save the report to a file")
@destructive("Replace a file without asking")
@option("--markdown", is_flag=True, help="Print the report as Markdown")
@option("--verbose", is_flag=True, help="Show thresholds, too")
async def analyze(env: Env, options: Options) -> Result:
    """Read an ARCHIVE of jsctl audit gather, or of the audit gather of the nats tool; no server is asked. The
    nats tool can load a saved report, too.
    """
    if options.load:
        document = load_report(options.load)
    else:
        with Archive(str(expand_home(options.archive))) as archive:
            document = run_checks(archive, options.skip, options.max_examples, env.clock())
    if options.save:
        await _save(env, options, document)
    if options.markdown:
        return _show_markdown(document, options.max_examples)
    path = options.archive or options.load
    return _show_report(document, path, options.max_examples, verbose=options.verbose)


async def _save(env: Env, options: Options, document: object) -> None:
    path = expand_home(options.save)
    if env.dry_run or is_replaced(path):
        await env.confirm(file_intent("the report", path), force=options.force)
    with naming_write_errors(path):
        write_atomically(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n", mode=None)
