"""Operators, accounts and users as files declare them."""

from collections.abc import Sequence
from dataclasses import dataclass

from jsctl.auth.claims import Json


@dataclass(frozen=True, slots=True)
class DeclaredUser:
    """A user.

    claims: the declared keys; None removes a key. role: the name of the account's signing key; empty for a
    user with permissions of its own. expires: as in a DeclaredAccount. position: file:line.
    """

    name: str
    claims: Json
    role: str
    expires: int | None
    position: str


@dataclass(frozen=True, slots=True)
class DeclaredAccount:
    """An account.

    claims: the declared keys except the lists below; None removes a key. exports, imports, roles: the
    declared ones; an import names its account. cleared: those of these lists that the file declares as empty
    or null. expires: seconds since 1970; 0 for never, None when the file does not say.
    """

    name: str
    claims: Json
    cleared: frozenset[str]
    exports: Sequence[Json]
    imports: Sequence[Json]
    roles: Sequence[Json]
    expires: int | None
    users: Sequence[DeclaredUser]
    position: str

    @property
    def is_bare(self) -> bool:
        """Whether the file only names it, for its users."""
        settings = (self.claims, self.exports, self.imports, self.roles, self.cleared)
        return not any(settings) and self.expires is None


@dataclass(frozen=True, slots=True)
class DeclaredOperator:
    """An operator.

    system_account: the name of its system account; empty when the file does not say. label: empty when the
    file has none. warnings: of what the file says, with file and line.
    """

    name: str
    claims: Json
    system_account: str
    accounts: Sequence[DeclaredAccount]
    label: str
    position: str
    warnings: Sequence[str] = ()

    @property
    def is_bare(self) -> bool:
        """Whether the file only names it, for its accounts."""
        return not self.claims and not self.system_account

    def find_account(self, name: str) -> DeclaredAccount | None:
        """Return the declared account of this name; None when there is none."""
        return next((account for account in self.accounts if account.name == name), None)
