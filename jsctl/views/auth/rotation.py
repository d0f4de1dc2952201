"""`auth keys rotate`: what it would do, and what it did."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.auth.rotation import Rotation, Signed, Unreached
from jsctl.base.files import escape_path
from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Lines, Part, Result, Table, recorder

Json = dict[str, Any]

_record = recorder(("user", "file", "reason", "blocks"))
_WRITTEN = (Column("User", "user"), Column("Credentials Written", "files", "prose"))


def build_facts(
    owner: Mapping[str, str],
    rotation: Rotation,
    users: Sequence[Signed],
    unreached: Sequence[Unreached],
    connections: Sequence[Json],
    names: Mapping[str, str],
) -> Json:
    """Return the document of a rotation. owner: "operator", "account" and "role". names: of users, by public
    key."""
    return {
        **owner,
        "old": rotation.old,
        "new": rotation.new,
        "users": [{"user": user.user, "files": list(map(escape_path, user.files))} for user in users],
        "unreached": list(map(_record, unreached)),
        "connections": [
            {
                "user": names.get(row.get("authorized_user", ""), row.get("authorized_user", "")),
                "name": row.get("name", ""),
                "address": f"{row.get('ip', '')}:{row.get('port', '')}",
                "server": row["server"]["name"],
            }
            for row in connections
        ],
    }


def rotation_intent(label: str, facts: Json, steps: Sequence[str], last: str) -> Intent:
    """Return the intent to replace a key. label: `signing key A... of account ORDERS`. steps: before users
    are signed. last: how the old key is removed."""
    lines = [f"Would {step}" for step in steps]
    lines += [
        f"Would sign user {user['user']} again" + (f" in {', '.join(user['files'])}" if user["files"] else "")
        for user in facts["users"]
    ]
    lines += _list_remaining(facts)
    signs = f", and sign {pluralize(len(facts['users']), 'user')} again" if facts["users"] else ""
    return Intent(f"replace {label}{signs}", facts, [*lines, last])


def rotation_result(label: str, facts: Json, *, is_done: bool) -> Result:
    """Show what was done. is_done: whether the old key is gone; if not, the status is a failure."""
    parts: list[Part] = []
    if facts["users"]:
        rows = [(user["user"], ", ".join(user["files"])) for user in facts["users"]]
        parts.append(Table("Signed Again", _WRITTEN, rows))
    if remaining := _list_remaining(facts):
        parts.append(Lines(remaining, "warn"))
    outcome = (
        f"{label[0].upper()}{label[1:]} was replaced by {facts['new']}"
        if is_done
        else f"{facts['new']} was added; {facts['old']} stays until nobody uses it: run this again then"
    )
    parts.append(Lines([outcome], "good" if is_done else "warn"))
    status = ExitStatus.OK if is_done else ExitStatus.FAILURE
    return Result(parts, data={**facts, "removed": is_done}, status=status)


def _list_remaining(facts: Json) -> list[str]:
    lines = []
    for each in facts["unreached"]:
        what = f"{each['user']} {each['file']}".strip()
        lines.append(f"Not written: {what}: {each['reason']}" if what else f"Still used: {each['reason']}")
    lines += [
        f"Connected with the old key: {row['user']} {row['name']} from {row['address']} on {row['server']}"
        for row in facts["connections"]
    ]
    return lines


def operator_intent(label: str, facts: Json, steps: Sequence[str], last: str) -> Intent:
    """Return the intent to replace a key of the operator, as `rotation_intent` does."""
    lines = [*(f"Would {step}" for step in steps), last]
    return Intent(
        f"replace {label}, and sign {pluralize(len(facts['accounts']), 'account')} again", facts, lines
    )


def operator_result(label: str, facts: Json, last: str, *, is_done: bool = False) -> Result:
    """Show what was done with a key of the operator. last: what is left to do."""
    line = (
        f"{label[0].upper()}{label[1:]} was replaced by {facts['new']}"
        if is_done
        else f"{facts['new']} was added; {facts['old']} stays"
    )
    parts = [Lines([line, last], "good" if is_done else "warn")]
    status = ExitStatus.OK if is_done else ExitStatus.FAILURE
    return Result(parts, data={**facts, "removed": is_done}, status=status)
