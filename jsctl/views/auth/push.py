"""`auth account push` and `pull`: differences, and the results of servers."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from jsctl.auth.records import Record
from jsctl.auth.resolver import SAME, Difference, Outcome
from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.views.intent import Intent
from jsctl.views.result import Cell, Column, Part, Result, Table, Text, build_table

__all__ = ["Difference", "differences", "outcomes"]

CHANGES = Column(
    "Changes",
    "changes",
    "prose",
    read=lambda change: Cell(list(change.changes), "; ".join(change.changes)),
    optional=True,
)
_DIFFERENCES = (
    Column("Account", "account"),
    Column("Key", "key", read=attrgetter("public"), hideable=1),
    Column(
        "State",
        "state",
        read=lambda change: Cell(change.state, change.state, "good" if change.state == SAME else "warn"),
    ),
    CHANGES,
)
_OUTCOMES = (Column("Account", "account"), Column("Server", "server"), Column("Result", "updated", "prose"))


def differences(rows: Sequence[Difference], *, is_failure: bool = True) -> Result:
    """Show how accounts differ. is_failure: set the exit status if one differs."""
    differ = is_failure and any(change.state != SAME for change in rows)
    status = ExitStatus.DIFFERENT if differ else ExitStatus.OK
    return Result([build_table("Accounts", _DIFFERENCES, rows, empty="No accounts")], status=status)


def push_intent(
    accounts: Sequence[Record], differing: Sequence[Difference], surplus: Sequence[Difference], servers: int
) -> Intent:
    """Return the intent to send accounts and to remove others (surplus). differing: see `compare`."""
    lines = [f"Would send account {change.account} ({change.state})" for change in differing]
    lines += [f"Would remove account {change.public} from the servers" for change in surplus]
    removal = f", and remove {len(surplus)} there" if surplus else ""
    where = f" to {pluralize(servers, 'server')}" if servers else " to the servers"
    action = f"send {pluralize(len(accounts), 'account')}{where}{removal}"
    states = [
        {"account": change.account, "key": change.public, "state": change.state} for change in differing
    ]
    facts = {"servers": servers, "accounts": states, "surplus": [change.public for change in surplus]}
    return Intent(action, facts, lines)


def save_intent(rows: Sequence[Difference]) -> Intent:
    """Return the intent to save accounts to the store."""
    lines = [f"Would save account {change.account} ({change.state})" for change in rows]
    facts = [{"account": change.account, "key": change.public, "state": change.state} for change in rows]
    return Intent(f"save {pluralize(len(rows), 'account')} to the store", {"accounts": facts}, lines)


def outcomes(
    sent: Sequence[tuple[str, str, Outcome]],
    servers: int,
    tokens: Mapping[str, str],
    surplus: Sequence[str],
    removed: Sequence[Outcome],
) -> Result:
    """Show the results of a push. servers: the number of servers; 0 if unknown.

    tokens: JWTs to show, by account. surplus: keys of the removed accounts. removed: the servers' outcomes.
    """
    rows = [(name, outcome.server, _build_result(outcome, "updated")) for name, _, outcome in sorted(sent)]
    label = surplus[0] if len(surplus) == 1 else f"{len(surplus)} accounts"
    rows += [(label, outcome.server, _build_result(outcome, "removed")) for outcome in sorted(removed)]
    parts: list[Part] = [Text(f"{name}: {token}", whole=True) for name, token in tokens.items()]
    parts.append(Table("Pushed Accounts", _OUTCOMES, rows))
    names = dict.fromkeys(name for name, _, _ in sent)
    updated = {
        name: len([outcome for other, _, outcome in sent if other == name and not outcome.error])
        for name in names
    }
    incomplete = [name for name, count in updated.items() if count < (servers or 1)]
    if servers and incomplete and not any(outcome.error for _, _, outcome in sent):
        parts.append(
            Text(f"fewer than {pluralize(servers, 'server')} answered for {', '.join(incomplete)}", "warn")
        )
    data = {
        "servers": servers,
        "accounts": [
            {
                "account": name,
                "key": next(key for other, key, _ in sent if other == name),
                "updated": [
                    outcome.server for other, _, outcome in sent if other == name and not outcome.error
                ],
                "failed": [
                    {"server": outcome.server, "error": outcome.error}
                    for other, _, outcome in sent
                    if other == name and outcome.error
                ],
                **({"jwt": tokens[name]} if name in tokens else {}),
            }
            for name in names
        ],
        "removed": list(surplus) if removed and not any(outcome.error for outcome in removed) else [],
    }
    failed = bool(incomplete) or any(outcome.error for outcome in removed)
    return Result(parts, data=data, status=ExitStatus.FAILURE if failed else ExitStatus.OK)


def _build_result(outcome: Outcome, done: str) -> Cell:
    return Cell(not outcome.error, outcome.error or done, "bad" if outcome.error else "good")
