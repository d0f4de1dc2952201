"""The operators, accounts and users of files, for apply and diff."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.auth.check import check
from jsctl.auth.check.model import Finding
from jsctl.auth.declared.execute import execute_auth
from jsctl.auth.declared.load import load_operators
from jsctl.auth.declared.model import DeclaredOperator
from jsctl.auth.declared.plan import AuthPlan, AuthStep, make_auth_plan
from jsctl.auth.environment import read_environment
from jsctl.auth.folders import StoreFolders, find_store_folders
from jsctl.auth.resolver import NEW, SAME, Difference
from jsctl.commands.shared.declared_push import CONTINUE, OperatorPush, open_pushes
from jsctl.commands.shared.pushing import Sent
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.declared.variables import Variables
from jsctl.views.auth.findings import format_findings
from jsctl.views.declared import environment as view
from jsctl.views.result import Result


class AuthOutcome(NamedTuple):
    """The steps that were done, and what servers did with accounts."""

    done: Sequence[AuthStep]
    sent: Sequence[Sent]


class DeclaredAuth:
    """The operators that files declare, with the plan for a store."""

    def __init__(
        self, folders: StoreFolders, operators: Sequence[DeclaredOperator], plan: AuthPlan, prune: bool
    ) -> None:
        self.folders = folders
        self.operators = operators
        self.plan = plan
        self._prune = prune
        self.new_operators: Sequence[
            str
        ] = ()  #: to whose servers accounts were to be sent, and which no server can know yet
        self._pushes: Sequence[OperatorPush] = ()
        self._differences: Sequence[Difference] = ()

    @property
    def has_label(self) -> bool:
        """Whether a file with operators has a label."""
        return any(operator.label for operator in self.operators)

    def show_plan(self, result: Result) -> Result:
        """Return the plan above a result."""
        return view.add_plan(result, self.plan, self._differences if self._pushes else None)

    async def open_pushes(self, env: Env, *, is_planning: bool) -> None:
        """Ask servers which of the accounts they have; `apply` then sends what differs, too.

        Raises BadInput, JsctlError, and what connecting raises.
        """
        existing_operators = self.folders.list_operators()
        self.new_operators = [
            declared.name for declared in self.operators if declared.name not in existing_operators
        ]
        self._pushes = await open_pushes(
            env, self.folders, self.operators, self.plan, is_planning=is_planning
        )
        self._differences = [
            difference
            for push in self._pushes
            for difference in push.find_differences(self.plan)
            if difference.state != SAME
        ]

    @property
    def lacking(self) -> frozenset[str]:
        """The accounts that servers do not have, as far as `open_pushes` asked."""
        return frozenset(difference.account for difference in self._differences if difference.state == NEW)

    async def apply(self, env: Env, force: bool) -> AuthOutcome:
        """Ask, and carry out the plan; return what was done. Raises Cancelled, BadInput, OSError."""
        await self._confirm(env, force)
        for push in self._pushes:  # before the store forgets the accounts
            await push.remove(self._differences)
        done = self._execute(env)
        sent = [outcome for push in self._pushes for outcome in await push.send(env)]
        return AuthOutcome(done, sent)

    def _execute(self, env: Env) -> list[AuthStep]:
        done: list[AuthStep] = []
        try:
            with env.progress("Applying", len(self.plan.steps)) as advance:
                execute_auth(self.folders, self.operators, self.plan, done, advance, prune=self._prune)
        except (JsctlError, OSError):
            env.say(f"{len(done)} of {len(self.plan.steps)} were done; {CONTINUE}")
            raise
        if (
            not self._pushes
            and not self.new_operators
            and any(step.account and not step.user for step in done)
        ):
            env.say("jsctl apply --push sends the accounts to the servers")
        if findings := self._find_errors():
            env.say(format_findings(findings))
        return done

    def show_outcome(self, result: Result, outcome: AuthOutcome) -> Result:
        """Return what was done, above a result."""
        sent = outcome.sent if self._pushes else None
        return view.add_outcome(result, outcome.done, self.plan, sent)

    async def _confirm(self, env: Env, force: bool) -> None:
        """Ask before removals, and on a terminal before changes and before accounts are sent."""
        actions = [step.action for step in self.plan.steps]
        changes = "change" in actions or bool(self._differences)
        if force or not ("remove" in actions or (changes and env.can_ask)):
            return
        env.say(view.format_auth_plan(self.plan))
        env.say("")
        await env.require_yes(view.format_auth_question(self.plan, self._differences))

    def _find_errors(self) -> list[Finding]:
        environments = [read_environment(self.folders, operator.name) for operator in self.operators]
        return [
            finding
            for environment in environments
            for finding in check(environment)
            if finding.severity == "error"
        ]


def plan_auth(
    env: Env, texts: Sequence[tuple[str, str]], variables: Variables, store: str, *, prune: bool
) -> DeclaredAuth | None:
    """Return the operators of files with their plan; None for files without any.

    store: the folder; empty for that of nsc. Raises BadInput with file and line.
    """
    operators = load_operators(texts, variables)
    if not operators:
        return None
    folders = find_store_folders(env.environ, store)
    return DeclaredAuth(folders, operators, make_auth_plan(folders, operators, prune=prune), prune)
