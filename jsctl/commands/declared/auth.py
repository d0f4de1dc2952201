"""The operators, accounts and users of files, for apply and diff."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from jsctl.auth.check import check
from jsctl.auth.declared.execute import execute_auth
from jsctl.auth.declared.model import DeclaredOperator
from jsctl.auth.declared.plan import AuthPlan, AuthStep, Holding, make_auth_plan
from jsctl.auth.environment import read_environment
from jsctl.auth.folders import StoreFolders
from jsctl.auth.resolver import NEW, REMOVED, SAME, Difference
from jsctl.auth.store import AuthStore
from jsctl.base.posix import lock, make_private_folder, open_private
from jsctl.commands.declared.account_holdings import measure_accounts
from jsctl.commands.declared.ending import describing_end
from jsctl.commands.declared.push import OperatorPush, open_pushes
from jsctl.commands.declared.sources import Sources
from jsctl.commands.operators.pushing import Sent, refuse_unseen
from jsctl.commands.operators.system import connect_to_system
from jsctl.commands.options.data_loss import Losing, refuse_unasked_loss
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.declared.compare import Rules
from jsctl.jetstream.message.data_loss import Precision
from jsctl.jetstream.stream.protection import refuse_protected
from jsctl.nats.connection import Connection
from jsctl.views.auth.findings import format_findings
from jsctl.views.declared import environment as view
from jsctl.views.declared.plan import Asked
from jsctl.views.result import Result

_LOCK = ".jsctl-apply.lock"
"""A file in the folder of operators, which an apply locks."""


_JETSTREAM_LIMITS = {
    "streams": "max_streams",
    "consumer": "max_consumers",
    "disk_storage": "max_storage",
    "mem_storage": "max_memory",
    "max_ack_pending": "max_ack_pending",
    "disk_max_stream_bytes": "storage_max_stream_bytes",
    "mem_max_stream_bytes": "memory_max_stream_bytes",
    "max_bytes_required": "max_bytes_required",
}
"""Limits in the claims of an account, of which none is 0, and the same as JetStream reports them."""


def _build_account_info(limits: Json) -> Json:
    def convert(claims: Json) -> Json:
        return {"limits": {own: claims.get(key, 0) for key, own in _JETSTREAM_LIMITS.items()}}

    tiers = limits.get("tiered_limits") or {}
    return {"tiers": {name: convert(claims) for name, claims in tiers.items()}} if tiers else convert(limits)


class AuthOutcome(NamedTuple):
    """The steps that were done, and what servers did with accounts. removed: names, with the server. It is
    added to while the steps are carried out."""

    done: list[AuthStep]
    sent: list[Sent]
    removed: list[tuple[str, str]]

    def describe(self, total: int | None = None) -> str:
        """Return what was changed, in words; empty for nothing. total: how many steps there are, of which it
        says how many were done."""
        sent = ", ".join(sorted({name for name, _, outcome in self.sent if not outcome.error}))
        removed = ", ".join(sorted({name for name, _ in self.removed}))
        parts = [f"{len(self.done)} of {total} were done"] if total else []
        parts += ["the store was changed"] if self.done and total is None else []
        parts += [f"accounts were sent to the servers: {sent}"] if sent else []
        parts += [f"accounts were removed from the servers: {removed}"] if removed else []
        return "; ".join(parts)


class DeclaredAuth:
    """The operators that files declare, with the plan for a store."""

    def __init__(
        self, folders: StoreFolders, operators: Sequence[DeclaredOperator], sources: Sources
    ) -> None:
        self.folders = folders
        self.operators = operators
        self._sources = sources
        self.plan = self._make_plan()
        #: to whose servers accounts were to be sent, and which no server can know yet
        self.new_operators: Sequence[str] = ()
        self._pushes: Sequence[OperatorPush] = ()
        self._differences: Sequence[Difference] = ()
        self._held: list[Json] = []  #: infos of these accounts' streams
        self.losses: Sequence[Losing] = ()  #: accounts that go or lose JetStream, with what they hold

    @property
    def has_label(self) -> bool:
        """Whether a file with operators has a label."""
        return any(operator.label for operator in self.operators)

    def show_plan(self, result: Result) -> Result:
        """Return the plan above a result."""
        return view.add_plan(result, self.plan, self._differences if self._pushes else None)

    async def open_pushes(self, env: Env) -> None:
        """Ask servers which of the accounts they have; `apply` then sends what differs, too.

        Raises BadInput, JsctlError, and what connecting raises.
        """
        existing_operators = self.folders.list_operators()
        self.new_operators = [
            declared.name for declared in self.operators if declared.name not in existing_operators
        ]
        prune = self._sources.prune
        self._pushes = await open_pushes(env, self.folders, self.operators, self.plan, prune=prune)
        owed = sorted({owed.name for push in self._pushes for owed in push.owed} if not prune else ())
        self.plan = self.plan._replace(owed=owed)
        self._differences = [
            difference
            for push in self._pushes
            for difference in push.find_differences(self.plan)
            if difference.state != SAME
        ]

    @property
    def missing(self) -> frozenset[str]:
        """The accounts that servers do not have, as far as `open_pushes` asked. A name is enough:
        `AccountLogins` takes none that several operators have."""
        return frozenset(difference.account for difference in self._differences if difference.state == NEW)

    def build_account_infos(self) -> dict[str, Json]:
        """Return what JetStream will say of the limits of the declared accounts, by name."""
        planned = self.plan.planned.items()
        return {name: _build_account_info(nats.get("limits") or {}) for (_, name), nats in planned}

    def _make_plan(self) -> AuthPlan:
        prune, take_ownership = self._sources.prune, self._sources.take_ownership
        return make_auth_plan(self.folders, self.operators, prune=prune, take_ownership=take_ownership)

    async def connect_to_system(self, env: Env) -> Connection:
        """Connect as a user of the system account that the store of the first operator signs. Raises
        JsctlError."""
        store = AuthStore(self.folders, self.operators[0].name)
        return await connect_to_system(env, store, as_system=True)

    async def measure_removals(self, env: Env) -> None:
        """Find what accounts hold that are to be removed or to lose JetStream, wherever servers can be
        asked."""
        pushes = {push.store.operator: push for push in self._pushes}
        removals = [step for step in self.plan.steps if step.is_account_removal]
        holdings: dict[str, Holding] = {}
        keys: dict[tuple[str, str], str] = {}
        self.losses, self._held, warnings = [], [], list[str]()
        for operator in dict.fromkeys([*(step.operator for step in removals), *pushes]):
            store, push = AuthStore(self.folders, operator), pushes.get(operator)
            records = [
                *(store.load_account(step.account) for step in removals if step.operator == operator),
                *(push.list_due() if push else ()),
            ]
            connection = push.connection if push else None
            cut = push.list_without_jetstream(self.plan) if push else []
            holdings |= await measure_accounts(env, store, [*records, *cut], connection, warnings)
            keys |= {(operator, record.name): record.public for record in records}
            for record in [*records, *cut]:
                holding = holdings[record.public]
                self._held += [{"config": config} for config in holding.configs]
                how: Literal["delete", "cut off"] = "cut off" if record in cut else "delete"
                self.losses += [Losing(f"account {record.name}", {}, holding.loss, how)]
                if record in cut and holding.streams != 0:
                    warnings.append(f"JetStream is switched off for account {record.name}, with {holding}")
        steps = [
            step._replace(holding=holdings[keys[step.operator, step.account]]) if step in removals else step
            for step in self.plan.steps
        ]
        self.plan = self.plan._replace(
            steps=steps, warnings=[*dict.fromkeys((*self.plan.warnings, *warnings))]
        )
        self._differences = [
            difference._replace(changes=[f"holds {holdings[difference.public]}"])
            if difference.state == REMOVED
            else difference
            for difference in self._differences
        ]

    def list_removed(self) -> frozenset[str]:
        """Return the accounts that the plan removes from the store."""
        return frozenset(step.account for step in self.plan.steps if step.is_account_removal)

    def list_held(self) -> list[str]:
        """Return the streams of accounts that go or lose JetStream."""
        return [str(info["config"]["name"]) for info in self._held]

    def refuse(self, env: Env, rules: Rules, *, force: bool) -> None:
        """Raise JsctlError for accounts that somebody else changed on servers and for protected streams, and
        BadInput for messages that are lost unasked."""
        for push in self._pushes:
            refuse_unseen(push.find_differences(self.plan))
        refuse_protected(self._held, self._sources.unprotect)
        refuse_unasked_loss(env, self.losses, force=force, allow=rules.allow_loss, needs_force=True)

    def list_asked(self) -> Asked:
        """Return what a question says."""
        return view.list_asked(self.plan, self._differences)

    async def ask_revoking(self, env: Env) -> bool:
        """Ask whether to revoke the old credentials of users who may do less, if there are any."""
        names = ", ".join(f"{step.account}/{step.user}" for step in self.plan.steps if step.old_rights)
        return bool(names and env.can_ask) and await env.prompter.confirm(
            f"Revoke the old credentials of {names}, too?", flag="--revoke-old"
        )

    async def apply(self, env: Env, rules: Rules, *, revoke_old: bool) -> AuthOutcome:
        """Carry out the plan; return what was done.

        revoke_old: revoke the credentials of users who may do less. Raises OSError, and JsctlError if another
        process has changed the store since the plan.
        """
        if not rules.may_delete_more():
            await self._refuse_more_loss(env)
        outcome = AuthOutcome([], [], [])
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._locked(env))
            self._refuse_stale()
            total = len(self.plan.steps)
            with describing_end(env, lambda: outcome.describe(total)):
                for push in self._pushes:  # before the store forgets the accounts
                    await push.remove(push.find_differences(self.plan), outcome.removed)
                await self._execute(env, outcome.done, revoke_old=revoke_old)
                for push in self._pushes:
                    push.note_removals()
                if not self._pushes:
                    self.plan = self.plan._replace(owed=self._make_plan().owed)
                stack.close()  # others may change the store while servers are waited for
                for push in self._pushes:
                    await push.send(env, outcome.sent)
        return outcome

    @contextlib.contextmanager
    def _locked(self, env: Env) -> Iterator[None]:
        """Wait until no other apply changes the store, and keep others from it until the block ends."""
        make_private_folder(self.folders.stores)
        with open(self.folders.stores / _LOCK, "a", opener=open_private) as file:
            try:
                lock(file, wait=False)
            except BlockingIOError:
                env.say("jsctl: another apply changes the operators; waiting for it")
                lock(file)
            yield

    def _refuse_stale(self) -> None:
        """Plan again, and leave out what another process has done in the meantime.

        Raises JsctlError for changes that nobody has seen.
        """
        seen = {step.identity for step in self.plan.steps}
        steps = self._make_plan().steps
        if unseen := [step for step in steps if step.identity not in seen]:
            raise JsctlError(
                f"{unseen[0].format_name()} has changed since the plan was made; nothing was changed",
                "look at the new plan and apply it",
            )
        self.plan = self.plan._replace(steps=steps)

    async def _refuse_more_loss(self, env: Env) -> None:
        """Raise JsctlError if an account holds more messages than the plan said."""
        announced = self.losses
        if not any(item.loss.precision is not Precision.UNKNOWN for item in announced):
            return
        await self.measure_removals(env)
        for now, before in zip(self.losses, announced, strict=True):
            if now.loss.exceeds(before.loss):
                raise JsctlError(
                    f"nothing was changed: {now.label} now holds {now.loss}, and the plan said {before.loss}",
                    "run it again",
                )

    async def _execute(self, env: Env, done: list[AuthStep], *, revoke_old: bool) -> None:
        prune, steps = self._sources.prune, self.plan.steps
        with env.progress("Applying", len(steps)) as advance:
            await execute_auth(
                self.folders, self.operators, steps, done, advance, prune=prune, revoke_old=revoke_old
            )
        has_accounts = any(step.account and not step.user for step in done)
        if has_accounts and not self._pushes and not self.new_operators:
            env.say("jsctl apply --push sends the accounts to the servers")
        environments = [read_environment(self.folders, operator.name) for operator in self.operators]
        findings = [finding for environment in environments for finding in check(environment)]
        if errors := [finding for finding in findings if finding.severity == "error"]:
            env.say(format_findings(errors))

    def show_outcome(self, result: Result, outcome: AuthOutcome) -> Result:
        """Return what was done, above a result."""
        sent = outcome.sent if self._pushes else None
        return view.add_outcome(result, outcome.done, self.plan, sent, outcome.removed)
