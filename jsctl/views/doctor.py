"""`doctor`: each finding with what was seen, why it matters and how to fix it."""

from collections.abc import Sequence

from jsctl.base.units import format_rfc3339, pluralize, to_ns
from jsctl.errors import ExitStatus
from jsctl.monitor.doctor.diagnosis import RULES
from jsctl.monitor.doctor.snapshot import Json, Snapshot
from jsctl.monitor.trouble import Gap, Trouble
from jsctl.views.result import Cell, Column, Field, InfoPage, Part, Result, Section, Table, Text

_COLUMNS = (
    Column("Code", "code"),
    Column("About", "about", "prose"),
    Column("Seen", "seen", "prose"),
    Column("Why it matters", "why", "prose"),
    Column("Fix", "fix", "prose"),
)


def show(snapshot: Snapshot, findings: Sequence[Trouble]) -> Result:
    """Show what is wrong; the exit status says whether anything is."""
    parts: list[Part] = []
    if findings:
        parts.append(InfoPage("", [_build_section(finding) for finding in findings]))
    whys = dict.fromkeys(gap.why for gap in _list_gaps(snapshot))
    parts += [Text(f"not checked: {why}", "dim") for why in whys]
    parts.append(_build_summary(snapshot, findings))
    table = Table("Findings", _COLUMNS, [tuple(finding.finding.values())[:5] for finding in findings])
    return Result(
        parts,
        data=lambda: _build_document(snapshot, findings),
        status=ExitStatus.FAILURE if findings else ExitStatus.OK,
        table=table,
    )


def _build_section(finding: Trouble) -> Section:
    about = finding.about[:1].upper() + finding.about[1:]
    fields = (
        Field("Seen", Cell(finding.says, finding.says, "bad"), "prose"),
        Field("Why it matters", finding.why, "prose"),
        Field("Fix", finding.advice, "prose"),
    )
    return Section(f"{about} ({finding.code})", fields)


def rules() -> Result:
    """Show the codes of findings."""
    rows = [(rule.code, rule.means, rule.part) for rule in RULES]
    columns = (Column("Code", "code"), Column("Means", "means", "prose"), Column("Looks At", "part"))
    return Result([Table("Findings", columns, rows)])


def _build_summary(snapshot: Snapshot, findings: Sequence[Trouble]) -> Text:
    streams = sum(len(view.streams) for view in snapshot.domains)
    # JetStream without a domain is one for all accounts of a network; what did not answer is none.
    domains = {(view.network, view.domain) for view in snapshot.domains if view.error is None}
    scope = (
        f"{pluralize(len(snapshot.contexts), 'context')}, {pluralize(len(domains), 'domain')},"
        f" {pluralize(streams, 'stream')} and {pluralize(len(snapshot.servers), 'server')}"
    )
    if not findings and not snapshot.domains and not snapshot.has_system:
        return Text("Only the connection was checked: no JetStream is available", "warn")
    if not findings:
        if snapshot.gaps:
            return Text(f"Nothing wrong was found with {scope}, but not everything was checked", "warn")
        return Text(f"Nothing is wrong with {scope}", "good")
    return Text(f"{pluralize(len(findings), 'finding')} on {scope}", "bad")


def _list_gaps(snapshot: Snapshot) -> list[Gap]:
    gaps = list(snapshot.gaps)
    if not snapshot.has_system and any(context.error is None for context in snapshot.contexts):
        why = (
            "imports and exports, leaf nodes and API levels, which need a context of the system account, too"
        )
        gaps += [Gap("servers", why), Gap("accounts", why)]
    return gaps


def _build_document(snapshot: Snapshot, findings: Sequence[Trouble]) -> Json:
    return {
        "at": format_rfc3339(to_ns(snapshot.at)),
        "findings": [finding.finding for finding in findings],
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
        "left_out": list(dict.fromkeys(gap.why for gap in _list_gaps(snapshot))),
        "not_checked": [{"part": gap.part, "why": gap.why} for gap in _list_gaps(snapshot)],
        "rules": _list_rules(snapshot),
    }


def _list_rules(snapshot: Snapshot) -> list[Json]:
    """Return for each rule how many objects it looked at, and what it could not look at."""
    counts = {
        "contexts": len(snapshot.contexts),
        "servers": sum(bool(server.varz or server.jsz) for server in snapshot.servers),
        "accounts": len({name for server in snapshot.servers for name in server.accounts}),
        "streams": sum(len(view.streams) for view in snapshot.domains),
        "links": sum(1 for _ in snapshot.links()),
        "consumers": sum(len(view.consumers or ()) for view in snapshot.domains),
    }
    gaps = _list_gaps(snapshot)
    failed = [str(view.error) for view in snapshot.domains if view.error]
    failed += [str(context.error) for context in snapshot.contexts if context.error]
    rules = []
    for rule in RULES:
        missing = [gap.why for gap in gaps if gap.part in _GAPS_OF[rule.part]]
        missing += [] if rule.part == "contexts" else failed
        if rule.rounds:
            missing = ["it takes several rounds: jsctl report --watch"]
        rules.append(
            {
                "code": rule.code,
                "part": rule.part,
                "looked_at": 0 if rule.rounds else counts[rule.part],
                "not_checked": list(dict.fromkeys(missing)),
            }
        )
    return rules


_GAPS_OF = {
    "contexts": (),
    "servers": ("servers",),
    "accounts": ("accounts",),
    "streams": ("streams", "account"),
    "links": ("streams",),
    "consumers": ("streams", "consumers"),
}
"""The parts of gaps that concern the rules of each part."""
