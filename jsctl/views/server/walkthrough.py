"""Walkthroughs as people see them."""

import shlex
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND, pluralize
from jsctl.localserver.walkthrough import Check, File, Step, Walkthrough
from jsctl.views.result import Column, Result, Table, Text

Json = dict[str, Any]

_STEPS = (
    Column("Step", "step", "number"),
    Column("Part", "part"),
    Column("What", "say", "prose"),
    Column("Commands", "commands", "prose", hideable=1),
)


def listing(walkthrough: Walkthrough) -> Result:
    """Show the steps of a walkthrough."""
    rows = [
        (step.number, step.part, step.say, "; ".join(f"jsctl {line}" for line in step.lines))
        for step in walkthrough.steps
    ]
    return Result([Table(walkthrough.about, _STEPS, rows)])


def part(title: str) -> Result:
    """Show the heading of a part."""
    return Result([Text(f"\n{title}\n{'=' * len(title)}", "bold")])


def step(played: Step, total: int) -> Result:
    """Show what a step does."""
    return Result([Text(f"\n# {played.number}/{total} {played.say}", "bold")])


def note(text: str) -> Result:
    """Show how the outcome differs from the document."""
    return Result([Text(f"# {text}")])


def steps_not_shown(count: int) -> Result:
    """Show that the steps before the first visible one are played, too."""
    return Result([Text(f"# steps 1 to {count} are played without their output")])


def command(line: str, width: int) -> Result:
    """Show a command line as a shell takes it. width: columns of the terminal; 0 leaves it on one line."""
    return Result([Text("\n".join(_break_line(f"$ {line}", width)), "bold", whole=True)])


def file(written: File) -> Result:
    """Show what is written to a file: all of it, or the lines that change."""
    if not written.changes:
        mark, text = f"$ cat > {written.name} <<'END'", f"{written.text}END"
    else:
        mark, lines = f"$ $EDITOR {written.name}", []
        for old, new in written.changes:
            matcher = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
            for tag, _, _, start, end in matcher.get_opcodes():
                lines += [f"{' ' if tag == 'equal' else '+'} {line}" for line in new.splitlines()[start:end]]
        text = "\n".join(lines)
    return Result([Text(f"{mark}\n{text}", whole=True)])


def check_passed(text: str) -> Result:
    """Show a check that holds."""
    return Result([Text(f"ok: {text}", "good")])


def sentence(check: Check) -> str:
    """Return a check as a sentence."""
    if check.says:
        return check.so
    parts = [_format_expectation(name, expected) for name, expected in check.streams.items()]
    if check.only:
        parts.append("no other stream" if parts else "no stream")
    return f"{check.place}: {'; '.join(parts)}"


def stream_values(info: Json) -> dict[str, int]:
    """Return the values of a stream that checks compare.

    `lag` is that of the origin that is furthest behind, -1 while one has not been reached; `idle` is seconds
    since one of the origins was last heard of.
    """
    origins = [info["mirror"]] if info.get("mirror") else info.get("sources") or []
    lags = [-1 if origin.get("active", -1) < 0 else int(origin.get("lag", 0)) for origin in origins]
    behind = min(lags) if lags and min(lags) < 0 else max(lags, default=0)
    idle = max((int(origin.get("active", 0)) for origin in origins), default=0) // SECOND
    return {"messages": int(info["state"]["messages"]), "lag": behind, "idle": idle}


def consumer_values(info: Json) -> dict[str, int]:
    """Return the values of a consumer that checks compare."""
    return {
        "pending": int(info.get("num_pending", 0)),
        "unacked": int(info.get("num_ack_pending", 0)),
        "acked": int((info.get("ack_floor") or {}).get("stream_seq", 0)),
    }


def done(folder: Path, records: Sequence[Json], *, keep: bool, temporary: bool) -> Result:
    """Show what a completed walkthrough leaves behind."""
    count = sum(len(record["checks"]) for record in records)
    lines = [f"\n{pluralize(count, 'check')} passed."]
    if keep:
        lines += [
            "The network is running.",
            f"  look  {build_line('server network shell', str(folder))}",
            f"  end   {build_line('server network down', str(folder), flags=['--force'])}",
        ]
    elif temporary:
        lines.append("All servers have stopped, and everything was removed.")
    else:
        lines.append(f"All servers have stopped; configurations, logs and streams are in {folder}.")
    return Result([Text("\n".join(lines), whole=True)], data=_build_document(folder, records, keep=keep))


def ended(folder: Path, records: Sequence[Mapping[str, Any]]) -> Result:
    """Show nothing more after a walkthrough that ended early; its JSON document has the steps up to there."""
    return Result(data=_build_document(folder, records, keep=False))


def _build_document(folder: Path, records: Sequence[Mapping[str, Any]], *, keep: bool) -> Json:
    return {"folder": str(folder), "running": keep, "steps": list(records)}


def _format_expectation(name: str, expected: Mapping[str, int]) -> str:
    stream, _, consumer = name.partition("/")
    if consumer:
        words = {"pending": "to deliver", "unacked": "unacknowledged", "acked": "acknowledged"}
        values = ", ".join(f"{value:,} {words[key]}" for key, value in expected.items())
        return f"consumer {consumer} of {stream} has {values}"
    parts = []
    if "messages" in expected:
        parts.append(f"{stream} holds {pluralize(expected['messages'], 'message')}")
    if "lag" in expected:
        lag = f"lag {expected['lag']:,}"
        parts.append(lag if parts else f"{stream} has {lag}")
    if "idle" in expected:
        parts.append(f"{stream} was last active {expected['idle']} seconds ago or more")
    return ", ".join(parts)


def _break_line(line: str, width: int) -> list[str]:
    """Break a command line into lines that a shell joins again."""
    if not width or len(line) <= width:
        return [line]
    lines, current = [], ""
    for word in shlex.split(line, posix=False):
        if current and len(current) + len(word) + 3 > width:
            lines.append(current + " \\")
            current = "    " + word
        else:
            current = f"{current} {word}" if current else word
    return [*lines, current]
