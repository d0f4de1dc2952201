"""What apply and diff do with the operators, accounts and users of files."""

from collections.abc import Sequence
from pathlib import Path

from jsctl.auth.check import check
from jsctl.auth.check.model import Finding
from jsctl.auth.declared.execute import execute_auth
from jsctl.auth.declared.load import load_operators
from jsctl.auth.declared.model import DeclaredOperator
from jsctl.auth.declared.plan import AuthPlan, AuthStep, make_auth_plan
from jsctl.auth.environment import read_environment
from jsctl.auth.store import store_folder
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.declared.variables import Variables
from jsctl.views.auth.findings import format_findings
from jsctl.views.declared import environment as view
from jsctl.views.result import Result


class DeclaredAuth:
    """The operators that files declare, with the plan for a store."""

    def __init__(
        self, root: Path, operators: Sequence[DeclaredOperator], plan: AuthPlan, prune: bool
    ) -> None:
        self.root = root
        self.operators = operators
        self.plan = plan
        self._prune = prune

    @property
    def has_label(self) -> bool:
        """Whether a file with operators has a label."""
        return any(operator.label for operator in self.operators)

    def show_plan(self, result: Result) -> Result:
        """The plan above the other one."""
        return view.add_plan(result, self.plan)

    async def apply(self, env: Env, force: bool) -> list[AuthStep]:
        """Ask, and carry out the plan; return the steps that were done. Raises Cancelled, BadInput,
        OSError."""
        await self._confirm(env, force)
        done: list[AuthStep] = []
        try:
            with env.progress("Applying", len(self.plan.steps)) as advance:
                execute_auth(self.root, self.operators, self.plan, done, advance, prune=self._prune)
        except (JsctlError, OSError):
            env.say(f"{len(done)} of {len(self.plan.steps)} were done; run apply again to continue")
            raise
        if any(step.account and not step.user for step in done):
            env.say("servers have the accounts after jsctl auth account push --all")
        if findings := self._find_errors():
            env.say(format_findings(findings))
        return done

    def show_outcome(self, result: Result, done: Sequence[AuthStep]) -> Result:
        """What was done, above what else was."""
        return view.add_outcome(result, done, self.plan)

    async def _confirm(self, env: Env, force: bool) -> None:
        """Ask before removals always, before changes on a terminal."""
        actions = [step.action for step in self.plan.steps]
        if force or not ("remove" in actions or ("change" in actions and env.can_ask)):
            return
        env.say(view.format_auth_plan(self.plan))
        env.say("")
        await env.confirm(view.format_auth_question(self.plan), force=False)

    def _find_errors(self) -> list[Finding]:
        environments = [read_environment(self.root, operator.name) for operator in self.operators]
        return [finding for one in environments for finding in check(one) if finding.severity == "error"]


def plan_auth(
    env: Env, texts: Sequence[tuple[str, str]], variables: Variables, store: str, *, prune: bool
) -> DeclaredAuth | None:
    """The operators of files with the plan for them; None for files without any. store: the folder; empty
    for that
    of nsc. Raises BadInput with file and line."""
    operators = load_operators(texts, variables)
    if not operators:
        return None
    root = Path(store).expanduser() if store else store_folder(env.environ)
    return DeclaredAuth(root, operators, make_auth_plan(root, operators, prune=prune), prune)
