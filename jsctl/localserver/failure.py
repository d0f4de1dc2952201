"""Why a nats-server ended: one line, from what it wrote to its log."""

import re
from pathlib import Path

from jsctl.errors import BadInput, JsctlError

_PORT = re.compile(r"listen tcp \S*?:(\d+): bind: (.*?)\"?$")
_STORE = re.compile(r"Can't start JetStream: (.*)")
_FATAL = re.compile(r"\[FTL\] (.*)|^nats-server: (.*)")


def explain(name: str, status: int, log: Path, store: str = "") -> JsctlError:
    """The failure of a server that ended with `status` (negative: a signal) before it was ready."""
    said = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    fatal = next(
        ((match[1] or match[2]).strip() for line in reversed(said) if (match := _FATAL.search(line))), ""
    )
    where = f"its log is {log}"
    if port := _PORT.search(fatal):
        if "in use" in port[2]:
            return JsctlError(
                f"port {port[1]} is in use", "--port takes another one, --port 0 any that is free"
            )
        return JsctlError(f"cannot listen on port {port[1]}: {port[2]}", "--port takes another one")
    if reason := _STORE.search(fatal):
        return JsctlError(
            f"JetStream cannot use its store{f' {store}' if store else ''}: {reason[1]}",
            "--store names another folder",
        )
    if "Duplicate 'store_dir'" in fatal:
        return BadInput("the configuration has a store_dir of its own", "leave out --store")
    if fatal:
        return JsctlError(f"nats-server ({name}) does not start: {fatal}", where)
    # The server says what is wrong with a command line without any prefix.
    first = status and next((line.strip() for line in said if line.strip() and "[INF]" not in line), "")
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    return JsctlError(f"nats-server ({name}) {how}{f': {first}' if first else ''}", where)
