"""Differences between servers and the store: an older operator JWT, accounts that differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from jsctl.auth.check.fixes import build_account_line, build_operator_line
from jsctl.auth.check.model import Finding, find_owner
from jsctl.auth.claims import as_number, as_text
from jsctl.auth.environment import Environment, read_claims
from jsctl.auth.records import Account
from jsctl.auth.resolver import Trust
from jsctl.base.units import SECOND, format_time


def check_servers(
    environment: Environment, trusts: Sequence[Trust], tokens: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield the differences between the servers and the store.

    tokens: the JWT that servers have, by the key of each account that was requested; empty when none has it.
    """
    for trust in trusts:
        yield from _check_trust(environment, trust)
    for account in environment.accounts:
        if account.public in tokens:
            yield from _check_account(environment, account, tokens[account.public])


def add_servers_accounts(environment: Environment, tokens: Mapping[str, str]) -> Environment:
    """Return the environment with the accounts as servers have them: with those that the store lacks, and
    without those that no server has."""
    accounts = []
    for account in environment.accounts:
        token = tokens.get(account.public)
        if token is None:
            accounts.append(account)
        elif token:
            accounts.append(replace(account, token=token, claims=read_claims(token)))
    for public, token in tokens.items():
        if token and environment.get_account(public) is None:
            claims = read_claims(token)
            accounts.append(Account(as_text(claims.get("name")) or public, token, claims))
    return Environment(environment.operator, accounts)


def find_trust_problem(trusts: Sequence[Trust], issuer: str) -> str:
    """Return why a server does not accept accounts signed with the key `issuer`; empty when all do."""
    for trust in trusts:
        if issuer not in trust.keys:
            issued_at = format_time(trust.issued * SECOND)
            return f"server {trust.server} has an operator JWT of {issued_at}, without the key {issuer}"
    return ""


def _check_trust(environment: Environment, trust: Trust) -> Iterator[Finding]:
    operator = environment.operator
    owner = find_owner(operator)
    fix = build_operator_line(owner, "config")
    signers = {account.issuer: account.name for account in environment.accounts}
    unknown = [signers[key] for key in signers if operator.may_sign(key) and key not in trust.keys]
    issued_at = format_time(trust.issued * SECOND)
    if unknown:
        reason = (
            f"server {trust.server} has an operator JWT of {issued_at}, "
            f"without the key that signed {unknown[0]}"
        )
        yield owner.build_error("server-operator-older", "signing_keys", reason, fix)
    elif trust.issued < operator.issued:
        reason = f"server {trust.server} has an operator JWT of {issued_at}, older than the store's"
        yield owner.build_warning("server-operator-older", "", reason, fix)


def _check_account(environment: Environment, account: Account, token: str) -> Iterator[Finding]:
    owner = find_owner(environment.operator, account)
    push = build_account_line(owner, "push")
    if not token:
        yield owner.build_warning("account-not-on-servers", "", "no server has the account", push)
    elif token != account.token:
        served_at = as_number(read_claims(token).get("iat"))
        if served_at > account.issued:
            reason = f"servers have a newer JWT of the account, signed at {format_time(served_at * SECOND)}"
            yield owner.build_warning(
                "account-newer-on-servers", "", reason, build_account_line(owner, "query", "--save")
            )
        else:
            reason = f"servers have another JWT of the account, signed at {format_time(served_at * SECOND)}"
            yield owner.build_warning("account-not-pushed", "", reason, push)
