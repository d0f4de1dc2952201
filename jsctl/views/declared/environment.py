"""Plans of declared operators, accounts and users, and their outcomes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jsctl.auth.claims import as_list, as_object
from jsctl.auth.declared.plan import UNKNOWN_HOLDING, AuthPlan, AuthStep
from jsctl.auth.resolver import REMOVED, Outcome
from jsctl.auth.resolver import Difference as Account
from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.jetstream.config.differences import Difference
from jsctl.views.auth.push import CHANGES
from jsctl.views.declared.plan import DONE, MARKS, Asked, format_actions, format_line, join_counts
from jsctl.views.result import Column, Lines, Part, Result, Table, Text, build_table

_COLUMNS = (
    Column("Status", "status"),
    Column("Operator", "operator"),
    Column("Account", "account"),
    Column("User", "user"),
)
_TO_SEND = (Column("State", "state"), Column("Account", "account"), CHANGES)
_SENT = (Column("Account", "account"), Column("Server", "server"))
_ALL_SENT = "The servers have the accounts as declared"
_REST_SENT = "The servers have the other accounts as declared"


def add_plan(result: Result, plan: AuthPlan, differences: Sequence[Account] | None) -> Result:
    """Add a plan above a result; the status says whether anything would change, and whether it can be done.

    differences: of accounts on servers; None if servers were not asked.
    """
    parts: list[Part] = [Lines([*_lines(step)], MARKS[step.action][1]) for step in plan.steps]
    parts += [Text(_build_summary(plan)), *_build_owed_parts(plan)]
    data = _with_auth(result, plan)
    if differences is not None:
        empty = _REST_SENT if plan.owed else _ALL_SENT
        table = build_table("To Send to Servers", _TO_SEND, differences, empty=empty)
        parts.append(table)
        data["auth"]["push"] = table.records()
    streams = [] if _is_empty(result) else result.parts
    is_different = (plan.steps or differences) and result.status is ExitStatus.OK
    status = ExitStatus.DIFFERENT if is_different else result.status
    return result._replace(parts=[*parts, *streams], data=data, status=status)


def add_outcome(
    result: Result,
    done: Sequence[AuthStep],
    plan: AuthPlan,
    sent: Sequence[tuple[str, str, Outcome]] | None,
    removed: Sequence[tuple[str, str]],
) -> Result:
    """Add what was done above a result. sent: accounts sent to servers; None if servers were not asked.
    removed: those removed from servers, each with the server."""
    rows = [(DONE[step.action], step.operator, step.account, step.user) for step in done]
    table = Table("Applied to the Store", _COLUMNS, rows)
    parts: list[Part] = [table, Text(f"{format_counts(done)} done")] if done else [Text(_build_summary(plan))]
    parts += _build_owed_parts(plan)
    auth: dict[str, Any] = {"applied": table.records(), "unchanged": {**plan.same}}
    auth |= {"owed": list(plan.owed)} if plan.owed else {}
    if removed:
        gone = Table("Removed from Servers", _SENT, removed)
        parts.append(gone)
        auth["removed"] = gone.records()
    if sent is not None:
        rest = _REST_SENT if plan.owed or removed else _ALL_SENT
        pushed = Table(
            "Sent to Servers", _SENT, [(name, outcome.server) for name, _, outcome in sent], empty=rest
        )
        parts.append(pushed)
        auth["pushed"] = pushed.records()
    streams = [] if _is_empty(result) else result.parts
    data = {**result.document(), "auth": auth}
    return result._replace(parts=[*parts, *streams], data=data)


def _build_owed_parts(plan: AuthPlan) -> list[Part]:
    """Return the line that names the removed accounts that servers may still have; none without any."""
    if not plan.owed:
        return []
    names = f"account{'s' * (len(plan.owed) > 1)} {', '.join(plan.owed)}"
    text = f"Servers may still have {names}, removed from the store; --prune with --push removes it there"
    return [Text(text, "warn")]


def list_asked(plan: AuthPlan, differences: Sequence[Account]) -> Asked:
    """Return what a question says. differences: of accounts on servers."""
    lines = [*(line for step in plan.steps for line in _lines(step)), "", _build_summary(plan)]
    removals = [step for step in plan.steps if step.action == "remove"]
    removed = [step.format_name() + _format_loss(step) for step in removals]
    names = {step.account for step in removals if not step.user}
    removed += [
        f"account {owed.account} from the servers, which {', '.join(owed.changes)}"
        for owed in differences
        if owed.state == REMOVED and owed.account not in names
    ]
    changed = [step for step in plan.steps if step.action == "change"]
    sent = [difference.account for difference in differences if difference.state != REMOVED]
    text = "\n".join(lines) if plan.steps or differences else ""
    return Asked(text, removed, format_counts(changed) if changed else "", ", ".join(sent))


def format_counts(steps: Sequence[AuthStep]) -> str:
    """Format counts: `1 operator, 2 accounts and 3 users`."""
    users = sum(bool(step.user) for step in steps)
    operators = sum(not step.account for step in steps)
    counts = [(operators, "operator"), (len(steps) - users - operators, "account"), (users, "user")]
    return join_counts(counts) or "nothing"


def _lines(step: AuthStep) -> Iterator[str]:
    users = f": {', '.join(step.users)}" if step.users else ""
    yield f"{MARKS[step.action][0]} {step.format_name()}{_format_loss(step)}{users}"
    for change in step.changes:
        if change.key in _LISTS:
            yield from _list_lines(change)
        else:
            yield format_line(step.action, change)
    if step.old_rights:
        until = f"until they are revoked (--revoke-old), or {step.old_rights}"
        yield f"    old credentials may do as before {until}"


def _list_lines(change: Difference) -> Iterator[str]:
    """Yield a line for each export, import or role that differs."""
    noun, key_of = _LISTS[change.key]
    before, after = ({key_of(item): item for item in value or ()} for value in (change.before, change.after))
    for key, item in after.items():
        if key not in before or before[key] != item:
            yield f"    {'~' if key in before else '+'} {noun} {key}{_format_detail(item)}"
    yield from (f"    - {noun} {key}" for key in before if key not in after)


def _format_detail(item: Any) -> str:
    claims = as_object(item)
    words = [f"as {claims['local_subject']}"] if claims.get("local_subject") else []
    words += ["private"] if claims.get("token_req") else []
    for action, rules in as_object(claims.get("template")).items():
        words += [
            f"{action}.{key} {', '.join(map(str, texts))}"
            for key, texts in as_object(rules).items()
            if as_list(texts)
        ]
    return f" ({'; '.join(words)})" if words else ""


def _format_key_of_export(export: Any) -> str:
    claims = as_object(export)
    return f"{claims.get('type')} {claims.get('subject')}"


def _format_key_of_import(claim: Any) -> str:
    return f"{_format_key_of_export(claim)} of {as_object(claim).get('account')}"


def _format_key_of_role(key: Any) -> str:
    return str(as_object(key).get("role") or as_object(key).get("key") or key)


_LISTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "exports": ("export", _format_key_of_export),
    "imports": ("import", _format_key_of_import),
    "signing_keys": ("role", _format_key_of_role),
}
"""The keys of claims that are lists: the noun of an item, and the function that returns its key."""


def _format_loss(step: AuthStep) -> str:
    if step.action != "remove":
        return ""
    if step.user:
        return " (and revoke it)"
    holding = f", {step.holding}" if step.holding else ""
    return f" ({pluralize(len(step.users), 'user')}{holding})"


def _build_summary(plan: AuthPlan) -> str:
    if not plan.steps:
        are = "is" if plan.unchanged == 1 else "are"
        same = ", ".join(pluralize(count, nouns[:-1]) for nouns, count in plan.same.items() if count)
        return f"Nothing to change: {same} {are} as declared"
    actions = [step.action for step in plan.steps]
    return f"{format_actions(actions.count)} in the store; {plan.unchanged} as declared"


def _is_empty(result: Result) -> bool:
    """Return whether files declare nothing else."""
    document = result.document()
    return (
        not document.get("changes")
        and not document.get("applied")
        and not any(document["unchanged"].values())
    )


def _with_auth(result: Result, plan: AuthPlan) -> dict[str, Any]:
    changes = [_record(step) for step in plan.steps]
    owed = {"owed": list(plan.owed)} if plan.owed else {}
    return {**result.document(), "auth": {"changes": changes, "unchanged": {**plan.same}, **owed}}


def _record(step: AuthStep) -> dict[str, Any]:
    return {
        "action": step.action,
        "operator": step.operator,
        "account": step.account,
        "user": step.user,
        "at": step.position,
        "differences": [change.to_json() for change in step.changes],
        **(_record_removal(step) if step.is_account_removal else {}),
        **({"old_credentials": step.old_rights} if step.old_rights else {}),
    }


def _record_removal(step: AuthStep) -> dict[str, Any]:
    """Return what goes with an account; null for what no server could be asked."""
    holding = step.holding or UNKNOWN_HOLDING
    loss = holding.loss.to_json()
    return {
        "users": len(step.users),
        "user_names": list(step.users),
        "streams": holding.streams,
        "messages": loss["deletes_messages"],
        **loss,
    }
