"""Leaders of streams in a cluster."""

from typing import Any

from jsctl.errors import JsctlError
from tests.support import js
from tests.support.waiting import wait_for, wait_until


def current(url: str, stream: str) -> dict[str, Any]:
    """Return a stream's info once it has a leader and all its followers are current."""

    def complete(info: dict[str, Any]) -> bool:
        group = info["cluster"]
        return bool(group.get("leader")) and all(peer.get("current") for peer in group.get("replicas") or [])

    def read() -> dict[str, Any]:
        try:
            return js.info(url, stream)
        except JsctlError:  # While nobody leads, nobody answers.
            return {"cluster": {}}

    return wait_until(read, complete)


def leader(url: str, stream: str) -> str:
    """Wait for the leader of a stream, and return its name."""
    return str(current(url, stream)["cluster"]["leader"])


def lead(url: str, stream: str, server: str) -> None:
    """Make this server lead."""

    def leads() -> bool:
        if leader(url, stream) == server:
            return True
        js.ask(url, f"STREAM.LEADER.STEPDOWN.{stream}", {"placement": {"preferred": server}})
        return False

    wait_for(leads, f"{server} does not lead", 30)
