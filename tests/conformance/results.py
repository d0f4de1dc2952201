"""What the last run of the lines found, and its table in the manual."""

from collections import Counter
from pathlib import Path

from tests.conformance.comparing import Line, read_lines

FILE = Path(__file__).with_name("results.txt")


def format_result(line: Line, output: str) -> str:
    """Return a line of the file: how the output compares, and the line."""
    return f"{output} {line.text}\n"


def build_table() -> str:
    """Return the table of topics, and that of the lines with another status or effect."""
    counts: dict[str, Counter[str]] = {}
    lines = list(read_lines())
    for line, result in zip(lines, FILE.read_text().splitlines(), strict=True):
        counts.setdefault(line.topic, Counter()).update(
            (result.partition(" ")[0], "lines", "other" if line.why else "as nats")
        )
    title = (
        "topic",
        "lines",
        "status and effects of nats",
        "same output",
        "JSON with its keys",
        "other text",
    )
    keys = ("lines", "as nats", "same", "keys", "text")
    whole = sum(counts.values(), Counter[str]())
    rows = [
        title,
        ("---",) * 6,
        *((topic, *(str(one[key]) for key in keys)) for topic, one in counts.items()),
    ]
    rows += [("all", *(str(whole[key]) for key in keys)), ()]
    rows += [("line with another outcome", "on purpose"), ("---",) * 2]
    rows += [(f"`{line.text}`".replace("|", "\\|"), line.why) for line in lines if line.why]
    return "\n".join(f"| {' | '.join(row)} |" if row else "" for row in rows)
