"""The parts of README.md that are generated. `python -m tests.support.readme` writes them anew."""

import re
from pathlib import Path

from jsctl import registry
from jsctl.errors import ExitStatus

README = Path(__file__).parents[2] / "README.md"

_STATUS = {
    ExitStatus.OK: "done; or the answer to a question was no, and nothing was changed",
    ExitStatus.FAILURE: "the command could not do what it should",
    ExitStatus.DIFFERENT: "`diff` or `edit --dry-run` found a difference",
    ExitStatus.NOT_FOUND: "the stream, consumer, context or message does not exist",
    ExitStatus.UNREACHABLE: "no server, no JetStream in that domain, or no reply in time",
    ExitStatus.DENIED: "the login was refused, or a permission is missing",
    ExitStatus.USAGE: "the command line is not valid; nothing was done",
    ExitStatus.INTERRUPTED: "stopped with ctrl-C, at a question too",
}


def commands() -> str:
    """Every command with its aliases and its line of help."""
    lines = []
    for path, entry in registry.all_commands().items():
        also = f" ({', '.join(entry.aliases)})" if entry.aliases else ""
        if entry.group and not entry.runs:
            lines += ["", f"**{path}**{also}: {entry.help}", ""] if " " not in path else []
        elif " " not in path:
            lines += ["", f"**{path}**{also}: {entry.help}", ""]
        else:
            lines.append(f"- `jsctl {path}`{also}: {entry.help}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def statuses() -> str:
    """The exit statuses as a table."""
    rows = [f"| {status.value} | {_STATUS[status]} |" for status in ExitStatus]
    return "\n".join(["| status | meaning |", "| --- | --- |", *rows])


PARTS = {"commands": commands, "statuses": statuses}


def rendered(text: str) -> str:
    """README text with its generated parts made anew."""
    for name, make in PARTS.items():
        text = re.sub(
            rf"(<!-- {name}: generated -->\n).*?(\n<!-- end -->)",
            lambda match, made=make: match[1] + made() + match[2],  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    return text


if __name__ == "__main__":
    README.write_text(rendered(README.read_text()))
