"""Kinds of numbers: counts, limits, sizes and durations."""

from collections.abc import Iterator, Sequence
from typing import Any

from jsctl.base.units import (
    DAY,
    HOUR,
    MINUTE,
    MS,
    SECOND,
    YEAR,
    format_exact_duration,
    parse_bytes,
    parse_duration,
)
from jsctl.jetstream.config.kind import KeepKey, Kind, refuse_unknown, shorten
from jsctl.jetstream.config.nodes import Node


class Number(Kind):
    """A whole number. least: the smallest valid one; None for no minimum. may_be_unset: whether a file may
    have 0 for what the server chooses.
    """

    metavar = "NUMBER"
    takes = "a whole number"
    shown_as = "count"
    shape = int
    schema = "natural"

    def __init__(self, least: int | None = 0, *, may_be_unset: bool = False) -> None:
        self._least = least
        self._may_be_unset = may_be_unset
        if least is None:
            self.schema = "int"

    def parse(self, text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a whole number") from None
        return self._check(number)

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> int:
        if not self.accepts(node.value):
            raise node.error(f"{key} must be {self.takes}, not {shorten(node.to_json())}")
        try:
            return self._check(node.value) if node.value or not self._may_be_unset else 0
        except ValueError as error:
            raise node.error(f"{key}: {error}") from None

    def accepts(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def _check(self, number: int) -> int:
        if self._least is not None and number < self._least:
            raise ValueError(f"{number} is less than {self._least}")
        if abs(number) >= 1 << 63:
            raise ValueError(f"{number} is too large")
        return number


class Percent(Number):
    """A whole number from 0 to 100."""

    metavar = "PERCENT"
    takes = "a whole number from 0 to 100"

    def _check(self, number: int) -> int:
        if not 0 <= number <= 100:
            raise ValueError(f"{number} is not {self.takes}")
        return number


class Limit(Number):
    """A count; -1 is unlimited, and so is any number below 1 in the server's answers."""

    shown_as = "limit"

    def __init__(self) -> None:
        super().__init__(least=None)
        self.schema = "size"

    def parse(self, text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a whole number; -1 is unlimited") from None
        return number if number > 0 else -1

    def normalize(self, value: Any) -> Any:
        return None if isinstance(value, int) and value < 1 else super().normalize(value)


class _Unit(Number):
    """A number that people write with a unit."""

    units: Sequence[tuple[int, str]] = ()
    stored_unit = ""
    unlimited = 0  #: the server's value for -1

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> int:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, str)):
            raise node.error(f"{key} must be {self.takes}, not {shorten(node.to_json())}")
        try:
            if node.text == "-1":
                return self.unlimited
            return self.parse(node.value) if isinstance(node.value, str) else self._check(node.value)
        except ValueError as error:
            raise node.error(f"{key}: {error}") from None

    def check_value(self, value: Any, key: str) -> Iterator[str]:
        if not self.accepts(value):
            yield f"{key} must be a whole number of {self.stored_unit}, not {shorten(value)}"

    def to_flag_texts(self, value: Any) -> list[str]:
        return [str(self.write(value))]

    def write(self, value: Any) -> Any:
        """Return the value in the largest unit that divides it."""
        for size, unit in self.units if self.accepts(value) else ():
            if value >= size and not value % size:
                return f"{value // size}{unit}"
        return value


class Size(_Unit):
    """Bytes; -1 is unlimited."""

    metavar = "BYTES"
    takes = "a size such as 512, 10MB or 1GiB"
    shown_as = "bytes_limit"
    stored_unit = "bytes"
    units = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
    unlimited = -1
    schema = "size"

    def parse(self, text: str) -> int:
        return parse_bytes(text)

    def normalize(self, value: Any) -> Any:
        return None if isinstance(value, int) and value < 1 else super().normalize(value)


class Duration(_Unit):
    """A duration in ns; -1 is stored as 0. forever: whether 0 means unlimited instead of none."""

    metavar = "DURATION"
    takes = "a duration such as 30s, 2h or 1y6M"
    stored_unit = "ns"
    schema = "ns"
    units = ((YEAR, "y"), (DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s"), (MS, "ms"))

    def __init__(self, *, forever: bool = False) -> None:
        super().__init__()
        self._forever = forever
        self.shown_as = "span_limit" if forever else "span"

    def parse(self, text: str) -> int:
        if text.strip() == "-1":
            return 0
        duration = parse_duration(text)
        if duration < 0:
            raise ValueError(f"{text!r} is negative; -1 is unlimited")
        return duration

    def to_flag_texts(self, value: Any) -> list[str]:
        if value == 0:
            return ["-1" if self._forever else "0s"]
        written = self.write(value)
        return [f"{written}ns" if isinstance(written, int) else str(written)]

    def format(self, value: Any) -> str:
        return format_exact_duration(value) if self.accepts(value) else super().format(value)
