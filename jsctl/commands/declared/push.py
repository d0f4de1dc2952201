"""The accounts that the servers of declared operators lack, and sending them, for `apply` and `diff`.

No state is stored: after a run that was killed, the next one continues with what it finds on the servers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jsctl.auth.claims import as_object
from jsctl.auth.declared.changes import has_label
from jsctl.auth.declared.model import DeclaredOperator
from jsctl.auth.declared.plan import AuthPlan
from jsctl.auth.environment import read_claims
from jsctl.auth.folders import StoreFolders
from jsctl.auth.records import Record, has_jetstream
from jsctl.auth.removed import list_owed, mark_gone
from jsctl.auth.resolver import (
    CHANGED,
    NEW,
    REMOVED,
    SAME,
    Difference,
    compare,
    delete_accounts,
    fetch_account_jwts,
    list_foreign_accounts,
)
from jsctl.auth.store import AuthStore
from jsctl.commands.operators.pushing import (
    Sent,
    check_accounts,
    refuse_failures,
    refuse_untrusted,
    send_accounts,
)
from jsctl.commands.operators.system import connect_to_system
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.monitor.server.requests import count_servers
from jsctl.nats.connection import Connection


@dataclass(frozen=True, slots=True)
class OperatorPush:
    """The servers of an operator.

    tokens: the JWTs that they have of accounts that are declared or change, by name. owed: the accounts that
    they have although they were removed from the store. prune: remove these.
    """

    store: AuthStore
    declared: DeclaredOperator
    connection: Connection
    servers: int
    tokens: Mapping[str, str]
    owed: Sequence[Record]
    prune: bool

    def find_differences(self, plan: AuthPlan) -> list[Difference]:
        """Return how declared accounts will differ from those on the servers after the plan is carried
        out.
        """
        steps = [step for step in plan.steps if step.operator == self.store.operator and step.account]
        # A user that is removed is revoked, which changes its account.
        changed = {step.account for step in steps if not step.user or step.action == "remove"}
        differences = [
            self._find_difference(account.name, account.name in changed) for account in self.declared.accounts
        ]
        removals = [step.account for step in steps if step.action == "remove" and not step.user]
        differences += [
            Difference(name, self.store.load_account(name).public, REMOVED)
            for name in removals
            if self.tokens.get(name)
        ]
        return differences + [Difference(owed.name, owed.public, REMOVED) for owed in self.list_due()]

    def list_due(self) -> Sequence[Record]:
        """Return the accounts that were removed from the store before, and will be from the servers now."""
        return self.owed if self.prune else ()

    def list_without_jetstream(self, plan: AuthPlan) -> list[Record]:
        """Return the accounts that have JetStream on the servers, and not after the plan is carried out."""
        lacking: list[Record] = []
        for account in self.declared.accounts:
            served = as_object(read_claims(self.tokens.get(account.name, "")).get("nats"))
            planned = plan.planned.get((self.store.operator, account.name))
            if planned is not None and has_jetstream(served) and not has_jetstream(planned):
                lacking.append(self.store.load_account(account.name))
        return lacking

    def _find_difference(self, name: str, is_changed: bool) -> Difference:
        token = self.tokens.get(name, "")
        if name not in self.store.list_account_names():
            return Difference(name, "", NEW)
        account = self.store.read_account(name)
        difference = compare(account, token, is_known=self.store.has_seen(account.public, token))
        if is_changed and difference.state == SAME:
            return difference._replace(state=CHANGED)
        return difference

    async def remove(self, differences: Sequence[Difference], done: list[tuple[str, str]]) -> None:
        """Remove from the servers what the store is about to lose. done: names of accounts are added, each
        with the server that had it. Raises JsctlError."""
        removed = [difference for difference in differences if difference.state == REMOVED]
        if not removed:
            return
        keys = [difference.public for difference in removed]
        for outcome in await delete_accounts(self.connection, self.store, keys, self.servers):
            if outcome.error:
                names = ", ".join(difference.account for difference in removed)
                raise JsctlError(
                    f"server {outcome.server} does not remove {names}: {outcome.error}",
                    "set allow_delete in its resolver, or apply with --no-push",
                )
            done += [(difference.account, outcome.server) for difference in removed]

    def note_removals(self) -> None:
        """Note which removed accounts the servers do not have any more. Raises OSError."""
        there = set() if self.prune else {owed.public for owed in self.owed}
        for record in list_owed(self.store):
            if record.public not in there:
                mark_gone(self.store, record.public)

    async def send(self, env: Env, sent: list[Sent]) -> None:
        """Send what the servers lack, and add what they did with it. Raises JsctlError when a server does not
        accept it."""
        accounts = [
            record
            for declared in self.declared.accounts
            if (record := self.store.read_account(declared.name)).token != self.tokens.get(declared.name)
        ]
        if not accounts:
            return
        check_accounts(env, self.store, accounts)
        await refuse_untrusted(self.connection, accounts, self.servers)
        before = len(sent)
        await send_accounts(env, self.store, self.connection, accounts, self.servers, sent)
        refuse_failures(sent[before:], accounts, self.servers)


async def open_pushes(
    env: Env,
    folders: StoreFolders,
    operators: Sequence[DeclaredOperator],
    plan: AuthPlan,
    *,
    prune: bool,
) -> list[OperatorPush]:
    """Connect to the servers of each operator, and ask what they have.

    Operators that are not in the store yet are left out. Raises what connecting and requests raise.
    """
    pushes = []
    for declared in operators:
        if declared.name not in folders.list_operators():
            continue
        store = AuthStore(folders, declared.name)
        system = store.read_operator().system_account
        connection = await connect_to_system(env, store, as_system=store.has_seed(system))
        servers = await count_servers(connection)
        account_names = {account.name for account in declared.accounts} | {
            step.account for step in plan.steps
        }
        public_keys = {
            name: store.load_account(name).public
            for name in store.list_account_names()
            if name in account_names
        }
        remote = await fetch_account_jwts(connection, public_keys.values(), servers)
        tokens = {name: remote[public] for name, public in public_keys.items()}
        owed = await _find_owed(connection, store, declared.label, servers)
        pushes.append(OperatorPush(store, declared, connection, servers, tokens, owed, prune))
    return pushes


async def _find_owed(connection: Connection, store: AuthStore, label: str, servers: int) -> list[Record]:
    """Return the accounts that servers have although they were removed from the store: those that it
    remembers, and those that carry the label."""
    remembered = {account.public for account in list_owed(store)}
    there = await list_foreign_accounts(connection, store, servers)
    owed = []
    for public, token in (await fetch_account_jwts(connection, there, servers)).items():
        claims = read_claims(token)
        if claims.get("sub") != public:
            continue
        name = str(claims.get("name") or public)
        record = Record(name, token, claims, store.find_account_doubt(name, token, claims))
        is_ours = public in remembered or (label and has_label(record.nats, label))
        if is_ours and not record.doubt:
            owed.append(record)
    return owed
