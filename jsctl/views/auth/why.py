"""`auth why`: what a user may do and which rule decides."""

from collections.abc import Iterator
from typing import Any

from jsctl.auth.claims import as_text, find_local_pattern
from jsctl.auth.why.answer import IMPORT, PUBLISH, SUBSCRIBE, Answer, Route
from jsctl.auth.why.connecting import Check
from jsctl.auth.why.permissions import Verdict
from jsctl.errors import ExitStatus
from jsctl.views.result import Part, Result, Text

_ACTIONS = {PUBLISH: "publish to", SUBSCRIBE: "subscribe to"}


def why_result(answer: Answer, *, with_servers: bool) -> Result:
    """Show an answer; the status is 1 if it is no. with_servers: whether servers were asked, too."""
    status = ExitStatus.OK if answer.allowed else ExitStatus.FAILURE
    return Result(
        list(_list_parts(answer, with_servers)), data=lambda: _build_document(answer), status=status
    )


def _list_parts(answer: Answer, with_servers: bool) -> Iterator[Part]:
    question, verdict = answer.question, answer.verdict
    who = f"{answer.user.name} of {answer.account.name}" if answer.user and answer.account else ""
    if verdict:
        group = f" in group {question.queue}" if question.queue else ""
        may = "may" if verdict.allowed else "may not"
        yield Text(
            f"{who} {may} {_ACTIONS[question.action]} {question.subject}{group}",
            "good" if verdict.allowed else "bad",
        )
        yield Text(f"  {verdict.message}: {_format_rule(verdict)}")
        yield from (Text(f"  {note}") for note in verdict.notes)
        if answer.fix:
            yield Text(f"    {answer.fix}", whole=True)
    if answer.account:
        if question.action == IMPORT and not answer.routes:
            yield Text(f"{answer.account.name} imports nothing at {question.subject}", "bad")
            for text, fix in answer.offers:
                yield Text(f"  {text}")
                yield Text(f"    {fix}", whole=True)
        for route in answer.routes:
            yield from _list_route_parts(answer.account.name, route)
    if answer.user:
        yield from _list_connection_parts(answer, with_servers)
    yield from (Text(f"  {note}", "warn") for note in answer.notes)


def _list_route_parts(account: str, route: Route) -> Iterator[Part]:
    kind, approval = as_text(route.claims.get("type")), route.approval
    origin = approval.exporter.name if approval.exporter else as_text(route.claims.get("account"))
    local = find_local_pattern(route.claims)
    sentence = (
        f"imports[{route.import_index}] of {account}: {kind} {local} is {route.subject} in account {origin}"
    )
    if not approval.code:
        export = approval.exporter.exports[approval.export_index] if approval.exporter else {}
        yield Text(
            f"{sentence}, which exports {as_text(export.get('subject'))} (exports[{approval.export_index}])",
            "good",
        )
        return
    yield Text(f"{sentence}, but does not work: it {approval.message}", "bad")
    yield Text(f"    {approval.fix}", whole=True)


def _list_connection_parts(answer: Answer, with_servers: bool) -> Iterator[Part]:
    name = answer.user.name if answer.user else ""
    if refused := answer.refused:
        yield Text(f"Servers refuse {name} (Authorization Violation): {refused.problem}", "bad")
        yield Text(f"  by {_format_check(refused)}")
        if refused.fix:
            yield Text(f"    {refused.fix}", whole=True)
    elif not answer.verdict:
        limit = "" if with_servers else ", according to the store; --servers checks what they have"
        yield Text(f"Servers let {name} connect{limit}", "good")
        yield Text("  passed: " + ", ".join(check.name for check in answer.checks))


def _format_rule(verdict: Verdict) -> str:
    path = f"{verdict.rule.path} of " if verdict.rule.path else ""
    return f"{path}{verdict.rule.where}"


def _format_check(check: Check) -> str:
    claim = f": {check.path} of {check.where}" if check.path else ""
    return f"{check.name}{claim}"


def _build_document(answer: Answer) -> dict[str, Any]:
    document: dict[str, Any] = {
        "allowed": answer.allowed,
        "action": answer.question.action,
        "subject": answer.question.subject,
        "queue": answer.question.queue,
        "account": answer.account.name if answer.account else "",
        "user": answer.user.name if answer.user else "",
        "public": answer.user.public if answer.user else "",
    }
    if verdict := answer.verdict:
        document["permission"] = {
            "allowed": verdict.allowed,
            "message": verdict.message,
            "where": verdict.rule.where,
            "path": verdict.rule.path,
            "rule": verdict.rule.text,
            "notes": list(verdict.notes),
            "fix": answer.fix,
        }
    document["notes"] = list(answer.notes)
    document["imports"] = [_build_route_record(route) for route in answer.routes]
    document["offers"] = [{"export": text, "fix": fix} for text, fix in answer.offers]
    document["connection"] = [
        {
            "check": check.name,
            "passed": not check.problem,
            "problem": check.problem,
            "where": check.where,
            "path": check.path,
            "fix": check.fix,
        }
        for check in answer.checks
    ]
    return document


def _build_route_record(route: Route) -> dict[str, Any]:
    approval = route.approval
    return {
        "path": f"imports[{route.import_index}]",
        "type": route.claims.get("type"),
        "local_subject": find_local_pattern(route.claims),
        "subject": route.subject,
        "exporter": approval.exporter.name if approval.exporter else route.claims.get("account"),
        "export": f"exports[{approval.export_index}]" if approval.export_index >= 0 else "",
        "works": not approval.code,
        "code": approval.code,
        "problem": approval.message,
        "fix": approval.fix,
    }
