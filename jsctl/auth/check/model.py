"""Findings, and the operator, account or user that each is about."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from jsctl.auth.records import Account, Operator, User

Severity = Literal["error", "warning"]


class Finding(NamedTuple):
    """A problem.

    severity: "error" for what servers refuse or what cannot work, "warning" for what works differently than
    it appears. code: the rule, for scripts. account, user: empty for problems of the operator or the account.
    path: the claim below `nats`, such as "imports[0].subject"; empty for the whole JWT. fix: the jsctl
    command line that fixes it; empty if none does, because a person has to choose first.
    """

    severity: Severity
    code: str
    operator: str
    account: str
    user: str
    path: str
    message: str
    fix: str

    @property
    def is_blocking(self) -> bool:
        """Whether it keeps what it is about from working: an error, or a revocation."""
        return self.severity == "error" or self.code == "user-revoked"

    @property
    def where(self) -> str:
        """`operator OP`, `account A` or `user A/u`."""
        return format_owner(self.operator, self.account, self.user)


def format_owner(operator: str, account: str, user: str) -> str:
    """Format a name with its kind: `operator OP`, `account A` or `user A/u`."""
    return f"user {account}/{user}" if user else f"account {account}" if account else f"operator {operator}"


class Owner(NamedTuple):
    """The operator, account or user whose claims a rule checks.

    file: the credentials file that a user was read from; empty for a user in the store.
    """

    operator: str
    account: str = ""
    user: str = ""
    file: str = ""

    def build_error(self, code: str, path: str, message: str, fix: str) -> Finding:
        """Return a finding of severity "error" about this owner; see `Finding`."""
        return Finding("error", code, *self[:3], path, message, fix)

    def build_warning(self, code: str, path: str, message: str, fix: str) -> Finding:
        """Return a finding of severity "warning" about this owner; see `Finding`."""
        return Finding("warning", code, *self[:3], path, message, fix)


def find_owner(operator: Operator, account: Account | None = None, user: User | None = None) -> Owner:
    """Return the owner for a user; without a user, for an account; without both, for the operator."""
    return Owner(
        operator.name,
        account.name if account else "",
        user.name if user else "",
        user.file if user else "",
    )


def has_errors(findings: Iterable[Finding]) -> bool:
    """Return whether any of the findings is an error."""
    return any(finding.severity == "error" for finding in findings)
