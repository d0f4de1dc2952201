"""The execution of a plan. Each step writes one file atomically, so that the next run continues one that was
killed.

Seeds are written before the JWTs that name their keys, and accounts before those that import from them;
removals come last.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

from jsctl.auth import changes as store_changes
from jsctl.auth.claims import Json, as_text
from jsctl.auth.declared.changes import (
    Keys,
    build_account_change,
    build_operator_change,
    build_user_change,
    find_role_key,
    set_label,
)
from jsctl.auth.declared.model import DeclaredAccount, DeclaredOperator
from jsctl.auth.declared.plan import AuthStep
from jsctl.auth.environment import read_environment
from jsctl.auth.folders import StoreFolders
from jsctl.auth.jwt import encode_jwt
from jsctl.auth.keys import ACCOUNT, create_key
from jsctl.auth.records import Account, User, build_scoped_user, build_user
from jsctl.auth.removed import remove_account
from jsctl.auth.revocations import Revocation, add_revocation
from jsctl.auth.store import AuthStore
from jsctl.jetstream.declared.execute import run


async def execute_auth(
    folders: StoreFolders,
    declared: Sequence[DeclaredOperator],
    steps: Sequence[AuthStep],
    done: list[AuthStep],
    advance: Callable[[int], None],
    *,
    prune: bool,
    revoke_old: bool = False,
) -> None:
    """Carry out steps of a plan.

    done: each step is added when it is done. advance: called with 1 for each. revoke_old: revoke the old
    credentials of users who may do less.

    Raises BadInput, NotFound, OSError.
    """
    work: list[Work] = []
    for operator in declared:
        worker = _Worker(AuthStore(folders, operator.name), operator, prune=prune, revoke_old=revoke_old)
        work += worker.order_work([step for step in steps if step.operator == operator.name])

    async def do(number: int) -> None:
        step, write = work[number]
        write()
        if step is not None:
            done.append(step)
            advance(1)

    for error in (await run({number: range(number)[-1:] for number in range(len(work))}, do)).values():
        raise error


Work = tuple[AuthStep | None, Callable[[], object]]


class _NewKeys(Keys):
    """The source of keys and tokens that creates them when they are needed."""

    def __init__(self, store: AuthStore) -> None:
        super().__init__(read_environment(store.folders, store.operator))
        self._store = store

    def create_signing_key(self) -> str:
        key = create_key(ACCOUNT)
        self._store.write_seed(key)
        return key.public

    def create_token(self, exporter: Account, importer: str, claims: Json) -> str:
        subject = as_text(claims.get("subject"))
        nats = {"type": "activation", "version": 2, "subject": subject, "kind": claims.get("type")}
        body = {"sub": importer, "name": subject, "nats": nats}
        return encode_jwt(body, self._store.read_key(exporter.public))


class _Worker:
    """The executor of the steps of one operator."""

    def __init__(
        self, store: AuthStore, declared: DeclaredOperator, *, prune: bool, revoke_old: bool
    ) -> None:
        self._revoke_old = revoke_old
        self._store = store
        self._declared = declared
        self._accounts = {account.name: account for account in declared.accounts}
        self._prune = prune

    def order_work(self, steps: Sequence[AuthStep]) -> list[Work]:
        """Return the work of all steps in the order of execution; the step is None for preparatory work."""
        work: list[Work] = []
        operator = next((step for step in steps if not step.account), None)
        if operator and operator.action == "create":
            work.append((None, self._create_operator))
        accounts = [step for step in steps if step.account and not step.user and step.action != "remove"]
        work += [
            (None, partial(self._create_account, step.account))
            for step in accounts
            if step.action == "create"
        ]
        if operator:
            work.append((operator, self._change_operator))
        # Accounts without imports first: activation tokens need existing exports.
        accounts.sort(key=lambda step: bool(self._accounts[step.account].imports))
        work += [(step, partial(self._change_account, self._accounts[step.account])) for step in accounts]
        users = [step for step in steps if step.user and step.action != "remove"]
        work += [(step, partial(self._write_user, step)) for step in users]
        removals = [step for step in steps if step.action == "remove"]
        removals.sort(key=lambda step: not step.user)
        return [*work, *((step, partial(self._remove, step)) for step in removals)]

    def _create_operator(self) -> None:
        system = self._declared.system_account or store_changes.SYSTEM_ACCOUNT
        store_changes.create_operator(self._store, system=system)

    def _change_operator(self) -> None:
        change = build_operator_change(self._declared, _NewKeys(self._store))
        store_changes.change_operator(self._store, change)

    def _create_account(self, name: str) -> None:
        if name in self._store.list_account_names():  # created with the operator, as its system account
            return
        store_changes.create_account(self._store, name, lambda nats: set_label(nats, self._declared.label))

    def _change_account(self, declared: DeclaredAccount) -> None:
        keys = _NewKeys(self._store)
        operator = self._store.read_operator()
        change = build_account_change(
            declared,
            keys,
            self._declared.label,
            prune=self._prune,
            strict=operator.is_strict,
        )
        record = self._store.read_account(declared.name)
        signer = ""
        if keys.environment and not keys.environment.operator.may_sign(record.issuer):
            signer = store_changes.find_operator_signer(self._store).public
        end = _build_expiry_claim(declared.expires)
        store_changes.change_account(self._store, declared.name, change, end, signer)

    def _write_user(self, step: AuthStep) -> None:
        owner = self._store.read_account(step.account)
        declared = next(user for user in self._accounts[step.account].users if user.name == step.user)
        key = find_role_key(owner.nats, declared.role, owner.name) if declared.role else ""
        signer = store_changes.find_user_signer(self._store, owner, key)
        change = build_user_change(declared, self._declared.label)
        if step.action == "create" and step.user not in self._store.list_user_names(step.account):
            nats: Json = build_scoped_user() if declared.role else build_user()
            change(nats)
            claims = _build_expiry_claim(declared.expires)
            store_changes.create_user(self._store, owner, step.user, nats, signer, claims=claims)
            return
        if step.old_rights and self._revoke_old:
            user = self._store.read_user(owner.name, step.user)
            self._revoke(user, user.issued)
            while int(time.time()) <= user.issued:  # what is signed now must not be revoked
                time.sleep(0.05)
        end = _build_expiry_claim(declared.expires)
        store_changes.change_user(self._store, owner, declared.name, change, end, signer.public)

    def _remove(self, step: AuthStep) -> None:
        if not step.user:
            remove_account(self._store, step.account)
            return
        self._revoke(self._store.read_user(step.account, step.user), int(time.time()))
        self._store.remove_user(step.account, step.user)

    def _revoke(self, user: User, until: int) -> None:
        """Revoke the JWTs of a user that were signed up to a time, in seconds since 1970."""
        revocation = Revocation("", user.public, until)
        store_changes.change_account(
            self._store, user.account, lambda nats: add_revocation(nats, revocation, user.account)
        )


def _build_expiry_claim(expires: int | None) -> dict[str, int | None]:
    """Return the claim for an expiry (seconds since 1970; 0 for none); empty when the file does not set
    one."""
    return {} if expires is None else {"exp": expires or None}
