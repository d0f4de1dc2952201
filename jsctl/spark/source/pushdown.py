"""The filters of a query that narrow the requests to the server.

Spark passes the conditions of `where`, joined by AND, to a batch reader. Those on sequence, timestamp and
subject narrow the requested range and subjects, which contain more than the matching rows; the received rows
are then filtered by the conditions themselves, so that they are the rows that Spark would have kept.
Unsupported conditions are left to Spark.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)

from jsctl.nats.subjects import covers, overlaps

if TYPE_CHECKING:
    import pyarrow as pa

SKEW = timedelta(minutes=1)
"""How far times may go backwards from one message to the next: leaders have different clocks."""

_NEVER_NULL = ("stream", "subject", "sequence", "timestamp")
_COMPARISONS = (EqualTo, EqualNullSafe, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual)
_OPERATORS = {
    "EqualTo": "equal",
    "EqualNullSafe": "equal",
    "GreaterThan": "greater",
    "GreaterThanOrEqual": "greater_equal",
    "LessThan": "less",
    "LessThanOrEqual": "less_equal",
}
"""Class of a filter -> function of Arrow."""

MAX_SUBJECTS = 100
"""Maximum number of subjects of an IN that are requested; for more, everything is read and filtered here."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a column. operator: one of `_OPERATORS`, `in` or `starts`. value: of the column's type;
    a list for `in`."""

    column: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Pushdown:
    """Conditions that must all hold."""

    conditions: tuple[Condition, ...] = ()

    @property
    def sequences(self) -> tuple[int, int]:
        """The half open range of sequences outside which no row matches."""
        start, end = 1, 1 << 62
        for condition in self._on("sequence"):
            low, high = _find_bounds(condition)
            start = max(start, low if condition.operator != "greater" else low + 1)
            end = min(end, high if condition.operator == "less" else high + 1)
        return start, max(start, end)

    @property
    def times(self) -> tuple[datetime | None, datetime | None]:
        """The times between which all matching messages were stored, the end exclusive; None for no bound."""
        starts, ends = [], []
        for condition in self._on("timestamp"):
            if condition.operator in ("equal", "greater", "greater_equal"):
                starts.append(condition.value - SKEW)
            if condition.operator in ("equal", "less", "less_equal"):
                ends.append(condition.value + SKEW)
        return max(starts, default=None), min(ends, default=None)

    def find_subjects(self, filters_of_options: Sequence[str]) -> tuple[str, ...] | None:
        """Return filters for all matching subjects; None when no subject can match.

        filters_of_options: empty for all.
        """
        filters = tuple(filters_of_options)
        for condition in self._on("subject"):
            condition_filters = _build_subject_filters(condition)
            if condition_filters is not None:
                filters = _intersect(filters, condition_filters)
                if not filters:
                    return None
        return filters

    def apply(self, rows: "pa.RecordBatch") -> "pa.RecordBatch":
        """Return the matching rows of a batch with Spark's columns."""
        import pyarrow as pa
        import pyarrow.compute as pc

        mask = None
        for condition in self.conditions:
            values = rows.column(condition.column)
            if condition.operator == "in":
                matching = pc.is_in(values, pa.array(condition.value, values.type))
            elif condition.operator == "starts":
                matching = pc.starts_with(values, condition.value)
            else:
                matching = getattr(pc, condition.operator)(values, pa.scalar(condition.value, values.type))
            mask = matching if mask is None else pc.and_(mask, matching)
        return rows if mask is None else rows.filter(mask)

    def _on(self, column: str) -> Iterable[Condition]:
        return (condition for condition in self.conditions if condition.column == column)


def push(filters: Iterable[Filter], columns: Sequence[str]) -> tuple[Pushdown, list[Filter]]:
    """Return the conditions that the source handles, and the remaining filters. columns: those that are
    read."""
    conditions, remaining = [], []
    for filter in filters:
        if isinstance(filter, IsNotNull) and filter.attribute[0] in _NEVER_NULL:
            continue
        condition = _parse_condition(filter, columns)
        if condition is None:
            remaining.append(filter)
        else:
            conditions.append(condition)
    return Pushdown(tuple(conditions)), remaining


def _parse_condition(filter: Filter, columns: Sequence[str]) -> Condition | None:
    column = getattr(filter, "attribute", ("",))
    if len(column) != 1 or column[0] not in columns:
        return None
    name = column[0]
    if isinstance(filter, _COMPARISONS):
        value = _convert_literal(name, filter.value)
        if value is None or (
            name in ("stream", "subject") and not isinstance(filter, (EqualTo, EqualNullSafe))
        ):
            return None
        return Condition(name, _OPERATORS[type(filter).__name__], value)
    if isinstance(filter, In):
        values = [_convert_literal(name, value) for value in filter.value if value is not None]
        return None if None in values or not values else Condition(name, "in", tuple(values))
    if isinstance(filter, StringStartsWith) and name == "subject" and _convert_literal(name, filter.value):
        return Condition(name, "starts", filter.value)
    return None


def _convert_literal(column: str, value: Any) -> Any:
    """Return a literal in the type of its column; None when it cannot be converted."""
    match column:
        case "sequence" if isinstance(value, int) and not isinstance(value, bool):
            return value
        case "timestamp" if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        case "subject" | "stream" if isinstance(value, str) and "\ufffd" not in value:
            return value
        case _:
            return None


def _find_bounds(condition: Condition) -> tuple[int, int]:
    """Return the least and the greatest sequence of a condition, both inclusive."""
    if condition.operator == "in":
        return min(condition.value), max(condition.value)
    low = condition.value if condition.operator in ("equal", "greater", "greater_equal") else 1
    high = condition.value if condition.operator in ("equal", "less", "less_equal") else 1 << 61
    return low, high


def _build_subject_filters(condition: Condition) -> tuple[str, ...] | None:
    """Return filters that match all subjects of a condition; None for a condition without useful filters."""
    if condition.operator == "starts":
        head, dot, _ = condition.value.rpartition(".")
        return (f"{head}.>",) if dot and _is_literal(head) else None
    values: tuple[str, ...] = condition.value if condition.operator == "in" else (condition.value,)
    literal = tuple(dict.fromkeys(value for value in values if _is_literal(value)))
    if any(set(value) & set("*>") for value in values) or len(literal) > MAX_SUBJECTS:
        return None
    return literal


def _is_literal(subject: str) -> bool:
    tokens = subject.split(".")
    return all(tokens) and not any(c in subject for c in "*> \t\r\n\f\0")


def _intersect(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Return filters that match at least the subjects that both match; empty if there are none."""
    if not ours:
        return theirs
    pairs = [(one, other) for one in ours for other in theirs if overlaps(one, other)]
    narrow = {other if covers(one, other) else one for one, other in pairs}
    # The server refuses overlapping filters: those that a wider one covers are left out.
    wide = {one for one in narrow if not any(covers(other, one) for other in narrow - {one})}
    return tuple(sorted(wide))
