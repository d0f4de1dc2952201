"""The jsctl command line that fixes a finding.

Nothing in it is left to fill in, it loses nothing but what is wrong, and nobody may do more after it than
before. Where a person has to choose, the verb asks; where it cannot, there is no line. A test runs each.
"""

from collections.abc import Callable, Sequence

from jsctl.auth.check.model import Owner
from jsctl.auth.claims import Json, find_local_subject
from jsctl.auth.records import Account
from jsctl.base.command_lines import build_flag, build_line


def build_owner_line(owner: Owner, verb: str, *names: str, flags: Sequence[str] = ()) -> str:
    """Return a command line of `jsctl auth` for the owner's operator, which a flag names."""
    return build_line(f"auth {verb}", *names, flags=[*flags, *build_flag("--operator", owner.operator)])


def build_operator_line(owner: Owner, verb: str, *flags: str) -> str:
    """Return a command line of `jsctl auth operator` for the owner's operator."""
    return build_line(f"auth operator {verb}", owner.operator, flags=flags)


def build_account_line(owner: Owner, verb: str, *flags: str) -> str:
    """Return a command line of `jsctl auth account` for the owner's account."""
    return build_owner_line(owner, f"account {verb}", owner.account, flags=flags)


def build_user_line(owner: Owner, verb: str, *flags: str) -> str:
    """Return a command line of `jsctl auth user` for the owner's user."""
    file = build_flag("--credential", owner.file) if owner.file and verb == "edit" else []
    return build_owner_line(owner, f"user {verb}", owner.user, owner.account, flags=[*flags, *file])


def build_edit_line(owner: Owner, *flags: str) -> str:
    """Return the command line of `edit` for an owner, with these flags."""
    if owner.user:
        return build_user_line(owner, "edit", *flags)
    if owner.account:
        return build_account_line(owner, "edit", *flags)
    return build_operator_line(owner, "edit", *flags)


def build_repair_line(build: Callable[..., str], flags: Sequence[str] | None) -> str:
    """Return a command line with the flags of a repair; empty without a repair. build: takes the flags."""
    return "" if flags is None else build(*flags)


def build_export_line(owner: Owner, verb: str, subject: str, *flags: str) -> str:
    """Return `jsctl auth account exports edit|rm SUBJECT ACCOUNT`."""
    return build_owner_line(owner, f"account exports {verb}", subject, owner.account, flags=flags)


def build_import_line(account: Account, owner: Owner, verb: str, imported: Json, *flags: str) -> str:
    """Return `jsctl auth account imports edit|rm SUBJECT ACCOUNT`; empty if that means another import."""
    name = find_local_subject(imported)
    same = [other for other in account.imports if find_local_subject(other) == name]
    if same and same[-1] is not imported:
        return ""
    return build_owner_line(owner, f"account imports {verb}", name, owner.account, flags=flags)
