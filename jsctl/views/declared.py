"""Plans of declared streams, and what became of them."""

from collections.abc import Iterator, Sequence
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.jetstream.declared.plan import Plan, Step
from jsctl.jetstream.declared.run import Outcome
from jsctl.units import format_bytes
from jsctl.views.result import Column, Part, Result, Style, Table, Text
from jsctl.views.shared.text import plural
from jsctl.views.stream.edit import line, shown

_MARKS: dict[str, tuple[str, Style]] = {
    "create": ("+", "good"),
    "change": ("~", "warn"),
    "remove": ("-", "bad"),
}
_DONE = {"create": "created", "change": "changed", "remove": "removed"}
_COLUMNS = (
    Column("Status", "status"),
    Column("Stream", "stream"),
    Column("Consumer", "consumer"),
    Column("Context", "context"),
    Column("Domain", "domain"),
    Column("Remark", "remark"),
)


def planned(plan: Plan) -> Result:
    """What would change; the status says whether anything would."""
    data = {"changes": [_record(step) for step in plan.steps], "unchanged": _same(plan)}
    if not plan.steps:
        return Result([Text(_unchanged(plan))], data=data)
    parts: list[Part] = [Text("\n".join(_lines(step)), _style(step)) for step in plan.steps]
    return Result([*parts, Text(_summary(plan))], data=data, status=ExitStatus.DIFFERENT)


def text(plan: Plan) -> str:
    """The same for a question."""
    return "\n".join([*(one for step in plan.steps for one in _lines(step)), "", _summary(plan)])


def question(plan: Plan) -> str:
    """What to ask before removals and changes; names what goes."""
    gone = [step for step in plan.steps if step.action == "remove"]
    changed = [step for step in plan.steps if step.action == "change"]
    asked = []
    if gone:
        asked.append("remove " + ", ".join(name(step) + _loss(step) for step in gone))
    if changed:
        asked.append(f"change {counted(changed)}")
    return "Really " + " and ".join(asked)


def applied(outcome: Outcome, plan: Plan) -> Result:
    """What was done, and after a failure what was not."""
    rows = [_row(step, _DONE[step.action]) for step in outcome.done]
    rows += [_row(step, "failed", str(error)) for step, error in outcome.failed]
    rows += [_row(step, "not done") for step in outcome.left]
    table = Table("Applied", _COLUMNS, rows)
    status = ExitStatus(outcome.failure.status) if outcome.failure else ExitStatus.OK
    told = f"{counted(outcome.done)} done"
    if outcome.failed:
        told += f", {counted([step for step, _ in outcome.failed])} failed"
        told += f", {counted(outcome.left)} not tried" if outcome.left else ""
    data = {"applied": table.records(), "unchanged": _same(plan)}
    return Result([table, Text(told, "bad" if outcome.failed else "")], data=data, status=status)


def name(step: Step) -> str:
    """`stream ORDERS` or `consumer ORDERS > NEW`."""
    return f"consumer {step.stream} > {step.consumer}" if step.consumer else f"stream {step.stream}"


def counted(steps: Sequence[Step]) -> str:
    """`2 streams and 1 consumer`."""
    consumers = sum(bool(step.consumer) for step in steps)
    parts = [(len(steps) - consumers, "stream"), (consumers, "consumer")]
    return " and ".join(plural(count, what) for count, what in parts if count) or "nothing"


def _lines(step: Step) -> Iterator[str]:
    mark = "!" if step.refused else _MARKS[step.action][0]
    yield f"{mark} {name(step)}{_loss(step)}{_where(step)}"
    for change in step.changes:
        if step.action == "create":
            if change.key not in ("name", "durable_name"):
                yield f"    {change.key}: {shown(change.key, change.after)}"
        else:
            refused = step.refused.get(change.key)
            yield f"    {line(change)}" + (f"  ({refused})" if refused else "")


def _style(step: Step) -> Style:
    return "bad" if step.refused else _MARKS[step.action][1]


def _where(step: Step) -> str:
    parts = [("context", step.target.context), ("domain", step.target.domain)]
    known = ", ".join(f"{what} {value}" for what, value in parts if value)
    return f"  [{known}]" if known else ""


def _loss(step: Step) -> str:
    if step.action != "remove" or step.consumer:
        return ""
    return f" ({plural(step.messages, 'message')}, {format_bytes(step.bytes)})"


def _summary(plan: Plan) -> str:
    counts = [f"{plan.count('create')} to create", f"{plan.count('change')} to change"]
    counts.append(f"{plan.count('remove')} to remove")
    refused = f", {len(plan.refused)} of them cannot be changed" if plan.refused else ""
    return f"{', '.join(counts)}{refused}; {plan.streams + plan.consumers} as declared"


def _unchanged(plan: Plan) -> str:
    parts = [(plan.streams, "stream"), (plan.consumers, "consumer")]
    told = " and ".join(plural(count, what) for count, what in parts if count)
    are = "is" if plan.streams + plan.consumers == 1 else "are"
    return f"Nothing to change: {told} {are} as declared" if told else "Nothing is declared"


def _same(plan: Plan) -> dict[str, int]:
    return {"streams": plan.streams, "consumers": plan.consumers}


def _row(step: Step, status: str, remark: str = "") -> tuple[str, ...]:
    return status, step.stream, step.consumer, step.target.context, step.target.domain, remark


def _record(step: Step) -> dict[str, Any]:
    return {
        "action": step.action,
        "stream": step.stream,
        "consumer": step.consumer,
        "context": step.target.context,
        "domain": step.target.domain,
        "at": step.at,
        "differences": [
            {**change._asdict(), "refused": step.refused.get(change.key)} for change in step.changes
        ],
        **({"messages": step.messages, "bytes": step.bytes} if step.action == "remove" else {}),
    }
