"""Imports that nobody exports once a plan is carried out: servers accept them, and nothing arrives."""

from collections.abc import Iterator, Mapping

from jsctl.auth.check.across import approve_import
from jsctl.auth.claims import Json, as_text
from jsctl.auth.declared.model import DeclaredOperator
from jsctl.auth.environment import Environment
from jsctl.auth.records import Account, Operator

_CODES = ("import-not-exported", "import-of-own")
"""The rules that need no key or token, which a plan does not have yet."""


def find_import_warnings(
    declared: DeclaredOperator, live: Environment | None, planned: Mapping[str, Json], removed: frozenset[str]
) -> Iterator[str]:
    """Yield a warning for each import without an export, with its position if a file declares it.

    live: the store; None for a new operator. planned: the claims of declared accounts, by name. removed:
    names of accounts. What the files do not declare is named if the plan breaks it.
    """
    before = {
        account.name: account for account in (live.accounts if live else ()) if account.name not in removed
    }
    after = dict(before)
    for name, nats in planned.items():
        public = before[name].public if name in before else name  # as imports name one without a key
        after[name] = Account(name, "", {"sub": public, "name": name, "nats": nats})
    operator = live.operator if live else Operator(declared.name, "", {})
    environment = Environment(operator, tuple(after.values()))
    for account in after.values():
        owner = declared.find_account(account.name)
        where = f"{owner.position}: " if owner else ""
        for imported in account.imports:
            origin = as_text(imported.get("account"))
            code, exporter, _, message, _ = approve_import(environment, account, imported)
            name = environment.get_account_name(origin)
            if (
                exporter is None
                and live
                and (removed_account := live.get_account(origin))
                and removed_account.name in removed
            ):
                name, message = removed_account.name, "is from an account that is removed"
            elif code not in _CODES or (
                not owner and live and approve_import(live, account, imported).code == code
            ):
                continue
            subject = as_text(imported.get("subject"))
            yield f"{where}account {account.name}: import {subject!r} of {name} {message}"
