"""Why a consumer makes no progress, in words."""

from collections.abc import Sequence
from typing import Any

from jsctl.base.command_lines import WITHOUT_TERMINAL, asks
from jsctl.monitor.consumer.facts import FINE, STOPPED, Cause
from jsctl.views.result import Lines, Part, Result, Style, Text

_VERDICTS = {
    "stopped": "makes no progress",
    "slow": "is slowed down",
    "partial": "does not get everything",
    "waiting": "waits for its clients",
    "fine": "is well",
}


def explained(
    stream: str, consumer: str, causes: Sequence[Cause], place: Sequence[str] | None = None
) -> Result:
    """Show each cause with its numbers and the command line that would help. place: as in `build_line`."""
    worst = causes[0].weight
    style: Style = "bad" if worst == STOPPED else "good" if worst == FINE else "warn"
    parts: list[Part] = [Text(f"Consumer {stream} > {consumer} {_VERDICTS[worst]}:", style)]
    offered: set[str] = set()
    for cause in causes:
        numbers = ", ".join(f"{key}={_format_value(value)}" for key, value in cause.numbers.items())
        lines = [f"  {cause.says}", *([f"    numbers: {numbers}"] if numbers else [])]
        for help in cause.help:
            if (line := help.explain(place)) not in offered:
                offered.add(line)
                lines.append(f"    {help.purpose or 'try'}: {line}{WITHOUT_TERMINAL if asks(line) else ''}")
        parts.append(Lines(lines))
    data = {
        "stream": stream,
        "consumer": consumer,
        "verdict": worst,
        "causes": [
            {
                "kind": cause.kind,
                "code": cause.trouble.code if cause.trouble else None,
                "weight": cause.weight,
                "says": cause.says,
                "numbers": cause.numbers,
                "help": cause.help[0].at(place) if cause.help else "",
                "lines": [{"for": line.purpose or "try", "line": line.at(place)} for line in cause.help],
                "trouble": cause.trouble.words if cause.trouble else None,
            }
            for cause in causes
        ],
    }
    return Result(parts, data=data)


def _format_value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(str, value)) + "]"
    return f"{value:,}" if isinstance(value, int) else str(value)
