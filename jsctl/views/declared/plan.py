"""Plans of declared streams, and their outcomes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import format_bytes, pluralize
from jsctl.contexts.model import strip_login
from jsctl.errors import ExitStatus, JsctlError
from jsctl.jetstream.config.differences import Difference
from jsctl.jetstream.declared.compare import OWNER_KEY, PROTECT_KEY, Stale
from jsctl.jetstream.declared.execute import Outcome
from jsctl.jetstream.declared.plan import Plan
from jsctl.jetstream.declared.step import Action, Step, Target, add_step_losses
from jsctl.jetstream.declared.trial import SERVER_KEY
from jsctl.views.result import Column, Lines, Part, Result, Style, Table, Text
from jsctl.views.shared.config import format_change, format_value

MARKS: dict[Action, tuple[str, Style]] = {
    "create": ("+", "good"),
    "change": ("~", "warn"),
    "remove": ("-", "bad"),
}
DONE = {"create": "created", "change": "changed", "remove": "removed"}
_COLUMNS = (
    Column("Status", "status"),
    Column("Stream", "stream"),
    Column("Consumer", "consumer"),
    Column("Context", "context"),
    Column("Domain", "domain"),
    Column("Account", "account", optional=True),
    Column("Remark", "remark", "prose"),
)


def plan_result(plan: Plan) -> Result:
    """Show what would change; the status says whether anything would, and whether it can be done."""
    data = {
        "changes": [_record(step) for step in plan.steps],
        "unchanged": _count_unchanged(plan),
        **({"kept": [_record(step) for step in plan.kept]} if plan.kept else {}),
        "warnings": list(plan.warnings),
    }
    place = _find_common_place(plan)
    kept: list[Part] = [Lines([*_list_kept_lines(step, place)]) for step in plan.kept]
    if not plan.steps:
        return Result([*kept, Text(_format_unchanged(plan))], data=data)
    parts: list[Part] = [
        Lines([*_list_lines(step, place)], "bad" if step.refused else MARKS[step.action][1])
        for step in plan.steps
    ]
    parts += kept
    status = ExitStatus.FAILURE if plan.refused else ExitStatus.DIFFERENT
    return Result([*parts, Text(_build_summary(plan))], data=data, status=status)


def refusal(plan: Plan, done: str = "") -> Result:
    """Show a plan that cannot be carried out, with the error that says so. done: what was done before it, in
    words."""
    owned = [step for step in plan.refused if OWNER_KEY in step.refused]
    if any(PROTECT_KEY in step.refused for step in plan.refused):
        hint = "use --unprotect with its name"
    elif owned:
        hint = "declare them in one file, or use --take-ownership"
    elif any(step.action == "change" and not step.is_content for step in plan.refused):
        hint = "remove and create them again, or declare the present settings"
    else:
        hint = "correct the file"
    count, first = format_counts(plan.refused), plan.refused[0]
    key, reason = next(iter(first.refused.items()))
    reason = reason if key in (SERVER_KEY, OWNER_KEY, PROTECT_KEY) else f"{key}: {reason}"
    where = f"{first.position}: " * bool(first.position)
    changed = f"{done}, and no stream was changed" if done else "nothing was changed"
    error = JsctlError(
        f"{changed}: {count} cannot be changed as declared; {where}{first.format_name()}: {reason}", hint
    )
    return plan_result(plan)._replace(status=ExitStatus.FAILURE, error=error)


def format_plan(plan: Plan) -> str:
    """Format the steps as text, shown before a question."""
    place = _find_common_place(plan)
    lines = (line for step in plan.steps for line in _list_lines(step, place))
    return "\n".join([*lines, "", _build_summary(plan)])


class Asked(NamedTuple):
    """What a question says of operators, accounts and users. plan: their steps, shown before it. removed:
    names, with what is lost. changed: counts, in words. sent: names of accounts."""

    plan: str = ""
    removed: Sequence[str] = ()
    changed: str = ""
    sent: str = ""


def format_question(plan: Plan, others: Asked) -> str:
    """Return the question before removals and changes; it names what is removed, and what changes delete."""
    removals = [step for step in plan.steps if step.action == "remove"]
    removed = [*others.removed, *(step.format_name() + _format_removal(step) for step in removals)]
    changed = plan.select("change")
    loss = add_step_losses(changed)
    counts = f"{format_counts(changed)}{f' and delete {loss}' if loss else ''}" if changed else ""
    sealed = [step.format_name() for step in changed if step.is_sealing]
    sealing = f", which seals {', '.join(sealed)} for good" if sealed else ""
    takes = f", and take {plan.takes} out of work queues" if plan.takes else ""
    created = format_counts(plan.select("create")) if takes else ""
    actions = [f"create {created}"] if created else []
    actions += [f"remove {', '.join(removed)}"] if removed else []
    changes = [*filter(None, (others.changed, counts))]
    actions += [f"change {' and '.join(changes)}"] if changes else []
    actions += [f"send {others.sent} to the servers"] if others.sent else []
    return f"Really {' and '.join(actions)}{sealing}{takes}"


def locate_name(step: Step) -> str:
    """Return what a step is about, with the line that declares it: `stream ORDERS (streams.yaml:3)`."""
    return step.format_name() + f" ({step.position})" * bool(step.position)


def apply_result(outcome: Outcome, plan: Plan) -> Result:
    """Show what was done and, after a failure, what was taken back and what was not done."""
    remarks = outcome.remarks
    rows = [_build_row(step, DONE[step.action], remarks.get(step.key, "")) for step in outcome.done]
    rows += [
        _build_row(step, "taken back", f"{step.loss} stay deleted" * bool(step.loss))
        for step in outcome.taken_back
    ]
    rows += [_build_row(step, "failed", format_failure(error)) for step, error in outcome.failed]
    rows += [_build_row(step, "not done") for step in outcome.not_tried]
    table = Table("Applied", _COLUMNS, rows)
    status = ExitStatus(outcome.failure.status) if outcome.failure else ExitStatus.OK
    summary = f"{format_counts(outcome.done)} done"
    if outcome.failed and not outcome.done:
        lost = add_step_losses(outcome.taken_back)
        summary = f"nothing was changed, but {lost} were deleted" if lost else "nothing was changed"
    if outcome.failed:
        summary += f", {format_counts([step for step, _ in outcome.failed])} failed"
        summary += f", {format_counts(outcome.taken_back)} taken back" if outcome.taken_back else ""
        summary += f", {format_counts(outcome.not_tried)} not tried" if outcome.not_tried else ""
    data = {"applied": table.records(), "unchanged": _count_unchanged(plan)}
    return Result([table, Text(summary, "bad" if outcome.failed else "")], data=data, status=status)


def format_failure(error: JsctlError) -> str:
    """Format why a step was not done, in one line; for one that is no longer as planned, with what it would
    be now."""
    now = ", ".join(map(format_change, error.step.changes)) if isinstance(error, Stale) else ""
    return f"{error.message}: {now}; {error.hint}" if now else str(error)


def format_counts(steps: Sequence[Step]) -> str:
    """Format counts of what steps are about: `2 streams and 1 consumer`."""
    steps = list({step.main_key: step for step in steps}.values())
    consumers = sum(bool(step.consumer) for step in steps)
    buckets = sum(bool(step.kind) for step in steps)
    parts = [
        (len(steps) - consumers - buckets, "stream"),
        (consumers, "consumer"),
        (buckets, "bucket"),
    ]
    return join_counts(parts) or "nothing"


def join_counts(parts: Sequence[tuple[int, str]]) -> str:
    """Join counts with their words, those that are not 0: `2 streams and 1 consumer`."""
    *rest, last = [pluralize(count, noun) for count, noun in parts if count] or [""]
    return f"{', '.join(rest)} and {last}" if rest else last


def format_actions(count: Callable[[Action], int]) -> str:
    """Format counts of what a plan does: `1 to create, 2 to change, 0 to remove`."""
    return ", ".join(f"{count(action)} to {action}" for action in MARKS)


def _find_common_place(plan: Plan) -> str:
    """Return the place of a plan that has several steps, all there; the summary names it once."""
    places = [_format_place(step.target) for step in (*plan.steps, *plan.kept)]
    return places[0] if len(places) > 1 and len({*places}) == 1 else ""


def _list_lines(step: Step, common_place: str = "") -> Iterator[str]:
    mark = "!" if step.refused else MARKS[step.action][0]
    removal = _format_removal(step) if step.action == "remove" else ""
    where = f"  {step.position}" if step.refused and step.position else ""
    yield f"{mark} {step.format_name()}{removal}{_format_other_place(step, common_place)}{where}"
    if step.action == "remove":
        yield from (f"    - {note}" for note in step.notes if not step.consumer)
    elif step.other_name:
        yield f"    copied from {step.other_name}, with its messages and consumers, and compared"
    if step.action != "remove" and step.loss:
        yield f"    deletes {step.loss}" + (" that no consumer needs" if step.other_name else "")
    for taken in step.taken:
        if taken.loss:
            yield f"    takes {taken.loss} out of work queue {taken.origin}"
    for change in step.changes:
        refused = step.refused.get(change.key)
        if refused or step.action != "create" or change.key not in ("name", "durable_name"):
            yield format_line(step.action, change) + (f"  ({refused})" if refused else "")
    shown = {change.key for change in step.changes}
    for key, reason in step.refused.items():
        if key not in shown:
            yield f"    the server refuses it: {reason}" if key == SERVER_KEY else f"    {key}: {reason}"


def format_line(action: Action, change: Difference) -> str:
    """Format the line of a key below its step: what it is to be, also what it is if the step changes it."""
    new = f"{change.key}: {format_value(change.kind, change.after)}"
    return f"    {new if action == 'create' else format_change(change)}"


def _list_kept_lines(step: Step, common_place: str) -> Iterator[str]:
    """Yield the lines of what servers keep in place of what is declared."""
    yield f"= {step.format_name()}{_format_other_place(step, common_place)}"
    for change in step.changes:
        now, declared = (format_value(change.kind, value) for value in (change.before, change.after))
        yield f"    {change.key}: {now}, as the server keeps it, not {declared}"


def _format_other_place(step: Step, common_place: str) -> str:
    place = _format_place(step.target)
    return "" if place == common_place else place


def _format_place(target: Target) -> str:
    parts = [("context", target.context), ("domain", target.domain), ("account", target.account)]
    if not (target.context or target.account):
        parts.insert(0, ("server", strip_login(target.api.connection.settings.url)))
    words = ", ".join(f"{noun} {value}" for noun, value in parts if value)
    return f"  [{words}]" if words else ""


def _format_removal(step: Step) -> str:
    """Return what a removal takes along: the messages of a stream, the position of a consumer."""
    if step.consumer:
        return f" ({'; '.join([*step.notes, *([f'deletes {step.loss}'] if step.loss else [])])})"
    if step.other_name:
        return f" (copied to {step.other_name} before)"
    return f" ({pluralize(step.loss.messages, 'message')}, {format_bytes(step.loss.bytes)})"


def _build_summary(plan: Plan) -> str:
    refused = f", {len(plan.refused)} of them cannot be changed" if plan.refused else ""
    losses = [f"deletes {plan.loss}"] if plan.loss else []
    losses += [f"takes {plan.takes} out of work queues"] if plan.takes else []
    loss = f", which {' and '.join(losses)}" if losses else ""
    unchanged = f"{plan.unchanged} {plan.wording}{_find_common_place(plan)}"
    return f"{format_actions(plan.count)}{refused}{loss}; {unchanged}"


def _format_unchanged(plan: Plan) -> str:
    counts = join_counts([(plan.streams, "stream"), (plan.consumers, "consumer"), (plan.buckets, "bucket")])
    are = "is" if plan.unchanged == 1 else "are"
    return f"Nothing to change: {counts} {are} {plan.wording}" if counts else "Nothing is declared"


def _count_unchanged(plan: Plan) -> dict[str, int]:
    return {"streams": plan.streams, "consumers": plan.consumers, "buckets": plan.buckets}


def _build_row(step: Step, status: str, remark: str = "") -> tuple[str, ...]:
    target = step.target
    return status, step.stream, step.consumer, target.context, target.domain, target.account, remark


def _record(step: Step) -> dict[str, Any]:
    takes = [{"origin": taken.origin, **taken.loss.to_json()} for taken in step.taken]
    return {
        "action": step.action,
        "stream": step.stream,
        "consumer": step.consumer,
        **({"bucket": step.kind.stream_to_bucket(step.stream)} if step.kind else {}),
        "context": step.target.context,
        "domain": step.target.domain,
        **({"account": step.target.account} if step.target.account else {}),
        "at": step.position,
        "differences": [
            {**change.to_json(), "refused": step.refused.get(change.key)} for change in step.changes
        ],
        "refused": dict(step.refused),
        **({"other_name": step.other_name} if step.other_name else {}),
        **step.loss.to_json(),
        **({"takes": takes} if takes else {}),
        **({"messages": step.loss.messages, "bytes": step.loss.bytes} if step.action == "remove" else {}),
        **({"notes": list(step.notes)} if step.notes else {}),
    }
