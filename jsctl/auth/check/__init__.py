"""Checks of operators, accounts and users: functions that take an environment and return findings.

These modules send no requests and write no files. The rules are those of nats-io/jwt (v2/*.go: Validate),
nats-io/nsc (cmd/validate.go) and the server, and rules between accounts, which the first two do not have.
"""

import time
from collections.abc import Iterator, Sequence

from jsctl.auth.check.accounts import check_account
from jsctl.auth.check.across import check_across
from jsctl.auth.check.fixes import build_account_line, build_user_line
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.check.operators import check_operator
from jsctl.auth.check.users import check_user
from jsctl.auth.environment import Environment
from jsctl.auth.records import Account

__all__ = ["Finding", "check", "check_for_push"]


def check(
    environment: Environment, accounts: Sequence[Account] | None = None, *, now: float = 0
) -> list[Finding]:
    """Return the findings about an operator, its accounts and their users, errors first.

    accounts: the ones to check; None for all. now: seconds since 1970; 0 for the current time.
    """
    now = now or time.time()
    findings = list(check_operator(environment, now))
    if accounts is None:
        accounts = environment.accounts
        findings += _check_files(environment)
    for account in accounts:
        findings += check_account(environment, account, now)
        findings += check_across(environment, account)
        for user in account.users:
            findings += check_user(environment, account, user, now)
    return sorted(findings, key=lambda finding: finding.severity != "error")


def check_for_push(environment: Environment, account: str, *, now: float = 0) -> list[Finding]:
    """Return the findings about an account that is to be sent to servers, errors first.

    Users are not checked, because they are not sent. A problem that the account causes in an importing
    account is a warning, because that account may be sent next. account: name or public key. now: seconds
    since 1970, 0 for the present. Raises NotFound.
    """
    now = now or time.time()
    chosen = environment.find_account(account)
    findings = [*check_account(environment, chosen, now), *check_across(environment, chosen)]
    for other in environment.accounts:
        paths = tuple(
            f"imports[{index}]"
            for index, imported in enumerate(other.imports)
            if imported.get("account") == chosen.public
        )
        if paths and other.public != chosen.public:
            findings += (
                finding._replace(severity="warning")
                for finding in check_across(environment, other)
                if finding.path.startswith(paths)
            )
    return sorted(findings, key=lambda finding: finding.severity != "error")


def _check_files(environment: Environment) -> Iterator[Finding]:
    """Yield a finding for each file that holds no valid JWT and for accounts with the same public key."""
    for unreadable in environment.unreadable:
        owner = Owner(environment.operator.name, unreadable.account, unreadable.user)
        fix = (
            build_user_line(owner, "rm")
            if unreadable.user
            else build_account_line(owner, "query", "--save", "--force")
        )
        yield owner.build_error("unreadable", "", f"{unreadable.path.name}: {unreadable.reason}", fix)
    by_key: dict[str, Account] = {}
    for account in environment.accounts:
        first = by_key.setdefault(account.public, account)
        if first is not account:
            owner = Owner(environment.operator.name, account.name)
            reason = f"the account has the public key of account {first.name}"
            yield owner.build_error("same-account", "sub", reason, build_account_line(owner, "rm"))
