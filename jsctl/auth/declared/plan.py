"""The plan of changes that make a store match what files declare."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.auth.check.across import approve_import
from jsctl.auth.check.model import format_owner
from jsctl.auth.claims import Json, as_text
from jsctl.auth.declared.changes import (
    Keys,
    build_account_change,
    build_operator_change,
    build_user_change,
    find_other_label,
    find_role_key,
    has_label,
)
from jsctl.auth.declared.fields import ACCOUNT, OPERATOR, USER
from jsctl.auth.declared.model import DeclaredAccount, DeclaredOperator, DeclaredUser
from jsctl.auth.declared.narrowing import is_narrowed
from jsctl.auth.environment import Environment, read_environment
from jsctl.auth.folders import StoreFolders
from jsctl.auth.keys import find_key_kind
from jsctl.auth.records import (
    Account,
    Operator,
    Record,
    User,
    build_account,
    build_operator,
    build_scoped_user,
    build_user,
)
from jsctl.auth.removed import find_removed, list_owed
from jsctl.auth.store import AuthStore
from jsctl.base.units import SECOND, format_rfc3339, pluralize
from jsctl.errors import BadInput
from jsctl.jetstream.config.differences import Difference, find_differences
from jsctl.jetstream.config.kind import Text
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.declared.step import Action
from jsctl.jetstream.message.data_loss import UNKNOWN, DataLoss

FOREVER = "for ever"

_IMPORT_CODES = ("import-not-exported", "import-of-own")
"""The rules that need no key or token, which a plan does not have yet."""

_DEFAULTS = {"operator": build_operator, "account": build_account, "user": build_user}
"""Functions that build the claims of new operators, accounts and users, by noun."""


class Holding(NamedTuple):
    """What an account holds on servers. streams: None if no server could be asked. configs: theirs."""

    streams: int | None
    loss: DataLoss
    configs: Sequence[Json] = ()

    def __str__(self) -> str:
        """Return it for people: `2 streams with 40 messages`."""
        if self.streams is None:
            return "an unknown number of streams"
        return f"{pluralize(self.streams, 'stream')} with {self.loss.format_count()}"


UNKNOWN_HOLDING = Holding(None, UNKNOWN)


class AuthStep(NamedTuple):
    """A change of a store.

    account, user: both empty for the operator; user is empty for an account. position: file:line; empty for
    removals. users: those that are removed together with an account, by name. holding: what such an account
    holds on servers. old_rights: for a user who may do less, until when old credentials may do as much as
    before.
    """

    action: Action
    operator: str
    account: str
    user: str
    position: str
    changes: Sequence[Difference] = ()
    users: Sequence[str] = ()
    holding: Holding | None = None
    old_rights: str = ""

    def format_name(self) -> str:
        """Format what it is about: `operator OP`, `account A` or `user A/u`."""
        return format_owner(self.operator, self.account, self.user)

    @property
    def is_account_removal(self) -> bool:
        """Whether it removes an account, with its users and with what it holds on servers."""
        return self.action == "remove" and not self.user

    @property
    def identity(self) -> tuple[str, ...]:
        """What it changes, to compare it with a later plan."""
        changes = [f"{change.key}: {change.before!r} -> {change.after!r}" for change in self.changes]
        return self.action, self.operator, self.account, self.user, *self.users, *changes


class AuthPlan(NamedTuple):
    """The steps to take.

    same: how many operators, accounts and users are already as declared, by these words. owed: removed
    accounts that servers may still have. warnings: of what servers accept and people hardly mean. planned:
    claims of declared accounts after the steps, by operator and name.
    """

    steps: Sequence[AuthStep]
    same: Mapping[str, int] = {}
    owed: Sequence[str] = ()
    warnings: Sequence[str] = ()
    planned: Mapping[tuple[str, str], Json] = {}

    @property
    def unchanged(self) -> int:
        """The number of operators, accounts and users that are already as declared."""
        return sum(self.same.values())


def make_auth_plan(
    folders: StoreFolders,
    declared: Sequence[DeclaredOperator],
    *,
    prune: bool,
    take_ownership: bool = False,
) -> AuthPlan:
    """Compare what is declared with a store. take_ownership: take over what belongs to another label.

    Raises NotGenuine for claims in the store that would be changed and signed, BadInput, OSError.
    """
    steps: list[AuthStep] = []
    warnings: list[str] = []
    same = dict.fromkeys(("operators", "accounts", "users"), 0)
    planned: dict[tuple[str, str], Json] = {}
    for operator in declared:
        store = AuthStore(folders, operator.name)
        planner = _Planner(store, operator, prune, take_ownership)
        for nouns, step in planner.plan():
            if step is None:
                same[nouns] += 1
            else:
                steps.append(step)
        warnings += planner.find_warnings(steps)
        planned |= {(operator.name, name): nats for name, nats in planner.planned.items()}
    removed = {record.name for one in declared for record in list_owed(AuthStore(folders, one.name))}
    return AuthPlan(steps, same, sorted(removed), warnings, planned)


class _Planner:
    """The plan of one operator."""

    def __init__(
        self, store: AuthStore, declared: DeclaredOperator, prune: bool, take_ownership: bool
    ) -> None:
        self._store = store
        self._take_ownership = take_ownership
        self._declared = declared
        self._prune = prune
        exists = declared.name in store.folders.list_operators()
        self._environment = read_environment(store.folders, declared.name) if exists else None
        if exists:
            store.read_operator()
        self._keys = Keys(self._environment)
        live = self._environment.operator.claims if self._environment else {"nats": build_operator()}
        self._operator = Operator(declared.name, "", copy.deepcopy(live))  #: as planned
        build_operator_change(declared, self._keys)(self._operator.nats)
        self.planned: dict[str, Json] = {}  #: claims of declared accounts, by name

    def plan(self) -> Iterator[tuple[str, AuthStep | None]]:
        """Yield steps (None for what is already as declared), each after `operators`, `accounts` or `users`,
        whatever it is one of."""
        position = self._declared.position
        operator = self._environment.operator if self._environment else None
        if operator and not self._declared.is_bare:
            self._check_owner(operator, f"operator {operator.name}", position)
        yield "operators", self._build_step(OPERATOR, operator, self._operator.nats, "", "", position)
        self._refuse_unknown_accounts()
        for account in self._declared.accounts:
            yield from self._plan_account(account)
        if self._prune and self._declared.label and self._environment:
            yield from (("accounts", step) for step in self._plan_removals(self._environment))

    def find_warnings(self, steps: Sequence[AuthStep]) -> Iterator[str]:
        """Yield warnings about the file, and about the store as it will be after the steps."""
        yield from self._declared.warnings
        removed = [
            step.account for step in steps if step.operator == self._declared.name and step.is_account_removal
        ]
        yield from self._find_import_warnings(removed)

    def _find_import_warnings(self, removed: Sequence[str]) -> Iterator[str]:
        """Yield a warning for each import that nobody exports once the plan is carried out, with its position
        if a file declares it: servers accept it, and nothing arrives.

        removed: names of accounts. What the files do not declare is named if the plan breaks it.
        """
        live = self._environment
        before = {
            account.name: account
            for account in (live.accounts if live else ())
            if account.name not in removed
        }
        after = dict(before)
        for name, nats in self.planned.items():
            public = before[name].public if name in before else name  # as imports name one without a key
            after[name] = Account(name, "", {"sub": public, "name": name, "nats": nats})
        environment = Environment(live.operator if live else self._operator, tuple(after.values()))
        for account in after.values():
            owner = self._declared.find_account(account.name)
            where = f"{owner.position}: " if owner else ""
            for imported in account.imports:
                origin = as_text(imported.get("account"))
                code, exporter, _, message, _ = approve_import(environment, account, imported)
                name, gone = environment.get_account_name(origin), live.get_account(origin) if live else None
                if exporter is None and gone and gone.name in removed:
                    name, message = gone.name, "is from an account that is removed"
                elif code not in _IMPORT_CODES or (
                    not owner and live and approve_import(live, account, imported).code == code
                ):
                    continue
                subject = as_text(imported.get("subject"))
                yield f"{where}account {account.name}: import {subject!r} of {name} {message}"

    def _plan_account(self, declared: DeclaredAccount) -> Iterator[tuple[str, AuthStep | None]]:
        live = self._find_account(declared.name)
        if live:
            self._store.read_account(declared.name)
            if not declared.is_bare:
                self._check_owner(live, f"account {live.name}", declared.position)
        nats: Json = copy.deepcopy(live.nats) if live else build_account()
        build_account_change(
            declared,
            self._keys,
            self._declared.label,
            prune=self._prune,
            strict=self._operator.is_strict,
        )(nats)
        self.planned[declared.name] = nats
        extra_changes = _build_expiry_changes(live, declared.expires)
        if not live and (removed := find_removed(self._store, declared.name)):
            has_key = self._store.has_seed(removed.public)
            text = removed.public if has_key else "a new key: the streams of the removed account are lost"
            extra_changes.append(_build_text_change("key", None, text))
        if live and not self._operator.may_sign(live.issuer):
            extra_changes.append(_build_text_change("iss", live.issuer, "a signing key"))
        name, position = declared.name, declared.position
        yield "accounts", self._build_step(ACCOUNT, live, nats, name, "", position, extra_changes)
        for user in declared.users:
            yield "users", self._plan_user(user, declared, live, nats)

    def _plan_user(
        self, declared: DeclaredUser, account: DeclaredAccount, owner: Account | None, nats: Json
    ) -> AuthStep | None:
        role_key = find_role_key(nats, declared.role, account.name) if declared.role else ""
        live = next((user for user in owner.users if user.name == declared.name), None) if owner else None
        if live:
            self._store.read_user(account.name, live.name)
            self._check_owner(live, f"user {account.name}/{live.name}", declared.position)
        claims: Json = build_scoped_user() if declared.role else build_user()
        if live:
            claims = copy.deepcopy(live.nats)
        build_user_change(declared, self._declared.label)(claims)
        extra_changes = _build_expiry_changes(live, declared.expires)
        if declared.role and not live:
            extra_changes.append(_build_text_change("role", None, declared.role))
        if live and owner:
            extra_changes += self._find_signing_changes(live, owner, role_key)
            if live.credentials != live.token and self._store.has_seed(live.public):
                current = "of another JWT" if live.credentials else None
                extra_changes.append(_build_text_change("credentials", current, "written"))
        step = self._build_step(
            USER, live, claims, account.name, declared.name, declared.position, extra_changes
        )
        if step and live and owner and is_narrowed(live, owner, claims, role_key):
            return step._replace(old_rights=_format_end(live.expires) or FOREVER)
        return step

    def _find_signing_changes(self, live: User, owner: Account, role_key: str) -> list[Difference]:
        scoped = owner.signing_keys.get(live.issuer) is not None
        by_own_key = live.issuer == owner.public
        if role_key:
            is_wrong = live.issuer != role_key
        else:
            is_wrong = (
                scoped
                or (by_own_key and self._operator.is_strict)
                or not (by_own_key or live.issuer in owner.signing_keys)
            )
        return (
            [_build_text_change("iss", live.issuer, role_key or "a key of the account")] if is_wrong else []
        )

    def _plan_removals(self, environment: Environment) -> Iterator[AuthStep]:
        """Yield the removals of accounts and users that have the label but that no file declares any
        more."""
        label, name = self._declared.label, self._declared.name
        for account in environment.accounts:
            declared = self._declared.find_account(account.name)
            is_system = account.public == environment.operator.system_account
            if declared is None and has_label(account.nats, label) and not is_system:
                users = [user.name for user in account.users]
                yield AuthStep("remove", name, account.name, "", "", users=users)
                continue
            names = {user.name for user in declared.users} if declared else set()
            for user in account.users:
                if user.name not in names and has_label(user.nats, label):
                    yield AuthStep("remove", name, account.name, user.name, "")

    def _build_step(
        self,
        schema: Schema,
        live: Record | None,
        after: Json,
        account: str,
        user: str,
        position: str,
        extra_changes: Sequence[Difference] = (),
    ) -> AuthStep | None:
        before = live.nats if live else _DEFAULTS[schema.noun]()
        changes = [*find_differences(before, after, schema), *extra_changes]
        if not live:  # a new user with a role has no permissions of its own
            changes = [change for change in changes if change.after is not None]
        if live and not changes:
            return None
        visible_changes = [change for change in changes if change.key not in ("type", "version")]
        action: Action = "change" if live else "create"
        return AuthStep(action, self._declared.name, account, user, position, visible_changes)

    def _find_account(self, name: str) -> Account | None:
        accounts = self._environment.accounts if self._environment else ()
        return next((account for account in accounts if account.name == name), None)

    def _check_owner(self, live: Record, name: str, position: str) -> None:
        """Raise BadInput for what belongs to the label of another file."""
        label = self._declared.label
        other = find_other_label(live.nats, label) if label and not self._take_ownership else ""
        if other:
            raise BadInput(f"{position}: {name} belongs to label {other}", "--take-ownership takes it over")

    def _refuse_unknown_accounts(self) -> None:
        """Raise BadInput for an import from an account that neither the files nor
        the store have."""
        for account in self._declared.accounts:
            for imported in account.imports:
                name = str(imported.get("account"))
                if not self._is_known(name):
                    raise BadInput(
                        f"{account.position}: account {account.name} imports from {name}, which does not"
                        " exist",
                        "declare it, or use its public key",
                    )

    def _is_known(self, name: str) -> bool:
        return bool(self._declared.find_account(name) or self._find_account(name) or find_key_kind(name))


def _build_expiry_changes(live: Record | None, expires: int | None) -> list[Difference]:
    if expires is None or expires == (live.expires if live else 0):
        return []
    before = live.expires if live else 0
    return [_build_text_change("expires", _format_end(before), _format_end(expires))]


def _format_end(seconds: int) -> str | None:
    return format_rfc3339(seconds * SECOND) if seconds else None


def _build_text_change(key: str, before: str | None, after: str | None) -> Difference:
    return Difference(key, before, after, Text())
