"""The reason why a nats-server ended, in one line, from its log."""

import re
from pathlib import Path

from jsctl.errors import BadInput, JsctlError

_PORT = re.compile(r"listen tcp \S*?:(\d+): bind: (.*?)\"?$")
_STORE = re.compile(r"Can't start JetStream: (.*)")
_FATAL = re.compile(r"\[FTL\] (.*)|^nats-server: (.*)")


def explain(name: str, status: int, log: Path, store: str = "") -> JsctlError:
    """Return the error for a server that ended before it was ready. status: negative for a signal."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    fatal = next(
        ((match[1] or match[2]).strip() for line in reversed(lines) if (match := _FATAL.search(line))), ""
    )
    where = f"its log is {log}"
    if port := _PORT.search(fatal):
        if "in use" in port[2]:
            return JsctlError(
                f"port {port[1]} is in use", "choose another one with --port, or any free one with --port 0"
            )
        return JsctlError(f"cannot listen on port {port[1]}: {port[2]}", "choose another one with --port")
    if (reason := _STORE.search(fatal)) and not reason[1].startswith("JetStream cluster"):
        return JsctlError(
            f"JetStream cannot use its store{f' {store}' if store else ''}: {reason[1]}",
            "choose another folder with --store",
        )
    if "Duplicate 'store_dir'" in fatal:
        return BadInput("the configuration has its own store_dir", "leave out --store")
    if fatal:
        return JsctlError(f"nats-server ({name}) does not start: {fatal}", where)
    # Mistakes in a command line are logged without a prefix.
    first = status and next((line.strip() for line in lines if line.strip() and "[INF]" not in line), "")
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    return JsctlError(f"nats-server ({name}) {how}{f': {first}' if first else ''}", where)
