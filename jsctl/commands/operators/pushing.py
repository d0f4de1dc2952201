"""Sending accounts to servers, for `auth account push` and `apply`."""

from collections.abc import Sequence

from jsctl.auth.check import Finding, check_for_push
from jsctl.auth.environment import read_environment
from jsctl.auth.records import Record
from jsctl.auth.resolver import UNSEEN, Difference, Outcome, fetch_trust, push_account
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.nats.connection import Connection

Sent = tuple[str, str, Outcome]
"""The name and key of an account, and what a server did with it."""


def check_accounts(
    env: Env, store: AuthStore, accounts: Sequence[Record], *, force: bool | None = None
) -> None:
    """Show what is wrong with accounts. Raises JsctlError for errors, unless `force`. force: of the verb's
    flag; None if it has none that permits errors.
    """
    environment = read_environment(store.folders, store.operator)
    findings: dict[Finding, Finding] = {}
    for account in accounts:
        for finding in check_for_push(environment, account.name, now=env.clock()):
            fault = finding._replace(
                severity="error"
            )  # of two accounts, the other one reports it as a warning
            if fault not in findings or finding.severity == "error":
                findings[fault] = finding
    for finding in findings.values():
        env.say(f"jsctl: {finding.severity}: {finding.where}: {finding.message}; {finding.fix}")
    errors = sum(finding.severity == "error" for finding in findings.values())
    if errors and not force:
        raise JsctlError(
            f"nothing was pushed because of {pluralize(errors, 'error')}",
            "fix it as described" + (", or use --force" if force is not None else ""),
        )


def refuse_unseen(differences: Sequence[Difference]) -> None:
    """Raise JsctlError if servers have JWTs that did not come from the store."""
    unseen = [difference.account for difference in differences if difference.state == UNSEEN]
    if unseen:
        raise JsctlError(
            f"servers have a JWT of {', '.join(unseen)} that is newer, or that this store has never had",
            f"{build_line('auth account push', *unseen, flags=['--diff'])} shows what somebody else changed,"
            f" {build_line('auth account pull', *unseen, flags=['--save', '--force'])} fetches it, and"
            f" {build_line('auth account push', *unseen, flags=['--force'])} replaces it",
        )


async def refuse_untrusted(connection: Connection, accounts: Sequence[Record], servers: int) -> None:
    """Raise JsctlError if a server's operator does not know the key that signed an account."""
    for trust in await fetch_trust(connection, servers):
        for account in accounts:
            if account.issuer not in trust.keys:
                raise JsctlError(
                    f"the operator on server {trust.server} does not have the key that signed {account.name}",
                    "configure it with the operator's new JWT (jsctl auth operator config), and reload it",
                )


async def send_accounts(
    env: Env,
    store: AuthStore,
    connection: Connection,
    accounts: Sequence[Record],
    servers: int,
    outcomes: list[Sent],
) -> None:
    """Send accounts of a store to all servers, and add what each did. servers: how many; 0 if unknown."""
    with env.progress("Pushing", len(accounts)) as advance:
        for account in accounts:
            sent = await push_account(connection, account, servers)
            outcomes += [(account.name, account.public, outcome) for outcome in sent]
            if any(not outcome.error for outcome in sent):
                with store.locked():
                    store.note_seen(account.public, account.token)
            if not sent:
                outcomes.append((account.name, account.public, Outcome("", "no server answered")))
            advance(1)


def refuse_failures(sent: Sequence[Sent], accounts: Sequence[Record], servers: int, hint: str = "") -> None:
    """Raise JsctlError if a server did not take an account. hint: what to do; by default, how to see what
    servers have."""
    for account in accounts:
        outcomes = [outcome for _, public, outcome in sent if public == account.public]
        line = build_line("auth account push", account.name, flags=["--diff"])
        advice = hint or f"{line} shows what they have"
        for outcome in outcomes:
            if outcome.error:
                server = f"server {outcome.server}" if outcome.server else "the servers"
                raise JsctlError(f"account {account.name} did not reach {server}: {outcome.error}", advice)
        if len(outcomes) < servers:
            count = f"{len(outcomes)} of {pluralize(servers, 'server')}"
            raise JsctlError(f"{count} accepted account {account.name}", advice)
