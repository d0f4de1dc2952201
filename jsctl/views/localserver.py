"""Local servers: what runs, and how to reach it."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.views.result import Column, Result, Table

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
