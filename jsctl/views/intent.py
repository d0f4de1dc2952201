"""What a verb is about to do: the question before it, and what --dry-run shows in its place."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jsctl.base.files import escape_path
from jsctl.base.units import format_bytes, pluralize
from jsctl.base.user_folders import expand_home
from jsctl.errors import ExitStatus
from jsctl.views.result import Lines, Result

NOTHING = "Nothing was changed"
"""The last line of every --dry-run."""


class Intent(NamedTuple):
    """A change that a verb is about to make.

    action: what follows "Really" and "Would": `delete Consumer ORDERS > NEW`. facts: the same for --json.
    lines: what would be done, if that is more than one sentence. question: in place of "Really ...".
    status: of --dry-run.
    """

    action: str
    facts: Mapping[str, Any]
    lines: Sequence[str] = ()
    question: str = ""
    status: ExitStatus = ExitStatus.OK

    def asked(self) -> str:
        """Return the question, without its question mark."""
        return self.question or f"Really {self.action}"

    def result(self, place: str = "") -> Result:
        """Return what --dry-run shows. place: where it would be done, in a few words."""
        first, *rest = self.lines or [f"Would {self.action}"]
        lines = [f"[{place}] {first}" if place else first, *rest]
        data = {"dry_run": True, "would": self.action, **({"place": place} if place else {}), **self.facts}
        return Result([Lines([*lines, NOTHING])], data=data, status=self.status)


def seal_intent(label: str, info: Mapping[str, Any]) -> Intent:
    """Return the intent to seal a stream or bucket. label: `Stream ORDERS`."""
    state = info["state"]
    facts = {"stream": info["config"]["name"], "messages": state["messages"], "bytes": state["bytes"]}
    description = f"{pluralize(state['messages'], 'message')}, {format_bytes(state['bytes'])}"
    kind = label.split()[0].lower()
    return Intent(f"seal {label} ({description}), sealed {kind}s can not be unsealed or modified", facts)


def file_intent(description: str, path: Path, facts: Mapping[str, Any] | None = None) -> Intent:
    """Return the intent to write or replace a file. description: `the credentials of alice`."""
    exists = expand_home(path).exists()
    shown_path = escape_path(path)
    action = f"replace {shown_path} with {description}" if exists else f"write {description} to {shown_path}"
    return Intent(action, {"path": shown_path, "replaces": exists, **(facts or {})})
