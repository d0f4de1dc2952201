"""`server request`: the answers of servers as they sent them."""

import json
from collections.abc import Sequence
from typing import Any

from jsctl.views.result import Result, Text


def as_sent(replies: Sequence[dict[str, Any]]) -> Result:
    """Show a JSON document on a line for each server; with --json a list of them."""
    lines = [json.dumps(reply, ensure_ascii=False) for reply in replies]
    return Result([Text("\n".join(lines), whole=True)], data=list(replies))


def with_connections(result: Result) -> Result:
    """Leave out the servers that have no connection to show."""
    replies = [reply for reply in result.document() if (reply.get("data") or {}).get("connections")]
    return as_sent(replies)._replace(error=result.error)
