"""`jsctl demo`: where its files are, and what its commands printed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jsctl.base.command_lines import build_flag, build_line
from jsctl.errors import ExitStatus
from jsctl.views.result import Field, InfoPage, Result, Section, Text


def step(note: str, line: str) -> Result:
    """Show a command line ahead of its output. note: why it is run."""
    heading = f"# {note}\n" if note else ""
    return Result([Text(f"\n{heading}$ {line}\n", "bold")])


def done(
    folder: Path, contexts: Sequence[str], steps: Sequence[Mapping[str, Any]], *, spark: bool, program: str
) -> Result:
    """Show where the files of the demo are.

    contexts: those of a network that was left running. program: the command that runs jsctl in this shell.
    """
    fields = [
        Field("Configurations", str(folder / "*.conf")),
        Field("Logs", str(folder / "*.log")),
        Field("Streams", str(folder / "store_*")),
    ]
    if spark:
        fields.append(Field("Reports", str(folder / "reports")))
    if contexts:
        context = build_flag("--context", contexts[0])
        fields += [
            Field("Contexts", list(contexts)),
            Field("Look", build_line("report", flags=["--watch"], place=context, program=program)),
            Field("Stop", build_line("server stop", contexts[0], program=program)),
        ]
    else:
        flags = ["--port", "0", *build_flag("--store", folder)]
        line = build_line("server run", "hub-leaf", flags=flags, program=program)
        fields.append(Field("Start again", line))
    heading = "The network is running" if contexts else "All servers have stopped"
    return Result(
        [Text(""), InfoPage(heading, [Section("", fields)])], data=_build_document(folder, contexts, steps)
    )


def failed(folder: Path, steps: Sequence[Mapping[str, Any]]) -> Result:
    """Show nothing more after a demo that failed; its JSON document has the steps up to the failure."""
    return Result(data=_build_document(folder, (), steps), status=ExitStatus.FAILURE)


def _build_document(
    folder: Path, contexts: Sequence[str], steps: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {"folder": str(folder), "contexts": list(contexts), "steps": list(steps)}
