"""Local servers: what runs, and how to reach it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.views.result import Column, Field, Result, Section, Sheet, Table, Text

_SERVERS = (
    Column("Server", "name"),
    Column("URL", "url"),
    Column("Domain", "domain"),
    Column("Process", "pid"),
    Column("Log", "log"),
)
_CONTEXTS = (
    Column("Context", "context"),
    Column("Description", "description"),
    Column("Server", "server"),
)


def running(
    servers: Sequence[Mapping[str, Any]], contexts: Sequence[Mapping[str, Any]], folder: str
) -> Result:
    """Servers `{name, url, domain, pid, log}` and contexts `{context, description, server}`."""
    return Result(
        [
            Table("Local Servers", _SERVERS, [[server[c.key] for c in _SERVERS] for server in servers]),
            Table("Contexts", _CONTEXTS, [[context[c.key] for c in _CONTEXTS] for context in contexts]),
        ],
        data={"folder": folder, "servers": list(servers), "contexts": list(contexts)},
    )


def demo(folder: Path, contexts: Sequence[str], steps: Sequence[Mapping[str, Any]], *, spark: bool) -> Result:
    """Where the demo's things are. contexts: those of a network that was left running."""
    fields = [
        Field("Configurations", str(folder / "*.conf")),
        Field("Logs", str(folder / "*.log")),
        Field("Streams", str(folder / "store_*")),
    ]
    if spark:
        fields.append(Field("Reports", str(folder / "reports")))
    if contexts:
        fields += [
            Field("Contexts", list(contexts)),
            Field("Look", f"jsctl report --watch --context {contexts[0]}"),
            Field("Stop", f"jsctl server stop {contexts[0]}"),
        ]
    else:
        fields += [Field("Start again", f"jsctl server run hub-leaf --store {folder}")]
    heading = "The network is running" if contexts else "All servers have stopped"
    return Result([Text(""), Sheet(heading, [Section("", fields)])], data=_document(folder, contexts, steps))


def demo_failed(folder: Path, steps: Sequence[Mapping[str, Any]]) -> Result:
    """A demo that one of its commands ended."""
    return Result(data=_document(folder, (), steps), status=ExitStatus.FAILURE)


def _document(folder: Path, contexts: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"folder": str(folder), "contexts": list(contexts), "steps": list(steps)}
