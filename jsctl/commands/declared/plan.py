"""What apply does and diff shows: one plan of the store of operators, what servers get of it, and streams.

It is made once. Only the streams of accounts that servers do not have yet cannot be seen beforehand: what is
planned for them is compared with what is there when the accounts are (`DeclaredPlan.compare_again`).
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from jsctl.base.command_lines import build_flag
from jsctl.commands.declared.applied_places import FormerPlace, add_former_places, refuse_unknown_places
from jsctl.commands.declared.sources import SourceOptions, Sources
from jsctl.commands.declared.targets import open_targets
from jsctl.commands.declared.trying import try_on_scratch_server
from jsctl.commands.options.protection import refuse_unknown
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.declared.compare import Rules
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.plan import Plan, make_plan
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.declared.storage import StorageSource
from jsctl.jetstream.declared.variables import parse_variables
from jsctl.jetstream.stream.replicas import find_shortage
from jsctl.monitor.server.requests import fetch_free_storage, fetch_visible_servers
from jsctl.views.declared import plan as view
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.auth.declared.model import DeclaredOperator
    from jsctl.commands.declared.auth import DeclaredAuth
    from jsctl.commands.declared.logins import AccountLogins


class Comparison(NamedTuple):
    """What files declare, compared with the store of operators. labels: by place, as the files name them.
    auth: None without declared operators. logins: for places that name an account. gone: places of the labels
    to which no context leads any more.
    """

    declared: Declared
    auth: "DeclaredAuth | None"
    logins: "AccountLogins | None"
    labels: Mapping[Place, frozenset[str]]
    gone: Sequence[FormerPlace] = ()


@dataclass(slots=True)
class DeclaredPlan:
    """The plan of what files declare. streams: the steps on servers, with the warnings about everything.
    targets: the servers of each place."""

    sources: Sources
    rules: Rules
    comparison: Comparison
    streams: Plan
    targets: Mapping[Place, Target]

    def show(self, env: Env) -> Result:
        """Return the plan as it is shown, and write its warnings to stderr."""
        for warning in self.streams.warnings:
            env.say(f"warning: {warning}")
        result, auth = view.plan_result(self.streams), self.comparison.auth
        return auth.show_plan(result) if auth else result

    async def compare_again(self, env: Env) -> bool:
        """Compare the streams with the servers once more if some of the accounts were missing there; return
        whether other steps than those of the plan are to be done. Raises what requests raise."""
        if not any(target.is_missing for target in self.targets.values()):
            return False
        if self.comparison.logins:
            self.comparison.logins.expect_all()
        announced = self.streams
        self.streams, self.targets = await _plan_streams(
            env, self.sources, self.comparison, self.rules, only_shows=False
        )
        return not self.streams.is_within(announced)


async def plan_declared(env: Env, sources: Sources, rules: Rules, *, only_shows: bool) -> DeclaredPlan:
    """Return the plan of what files declare. only_shows: servers may lack accounts that no operator of the
    files has. Raises BadInput, and what connecting and requests raise."""
    comparison = await compare_sources(env, sources, only_shows=only_shows)
    planned = await _plan_streams(env, sources, comparison, rules, only_shows=only_shows)
    return DeclaredPlan(sources, rules, comparison, *planned)


async def compare_sources(env: Env, sources: Sources, *, only_shows: bool = True) -> Comparison:
    """Read what files declare, and compare its operators with the store and with servers. only_shows: as in
    `plan_declared`. Raises BadInput, and what connecting raises."""
    declared, operators = _load(sources)
    labels = declared.labels
    gone: Sequence[FormerPlace] = ()
    if sources.prune:
        declared, gone = add_former_places(env, declared)
    contexts = declared.contexts | {place.context for place in declared.places} - {""}
    if contexts and "server" in env.flags and "server" not in env.from_environment:
        raise BadInput(
            f"--server cannot be used beside context {min(contexts)} of a file", "leave out one of them"
        )
    auth = _plan_operators(env, sources, operators)
    if auth:
        declared = _without_accounts(declared, auth.list_removed())
        labels = {place: names for place, names in labels.items() if place in declared.labels}
    if sources.prune and not (declared.labels or (auth and auth.has_label)):
        raise BadInput("--prune needs a label", "add `label: NAME` to the file")
    logins = await _ask_servers(env, declared, auth, sources, only_shows=only_shows)
    if auth:
        await auth.measure_removals(env)
    return Comparison(declared, auth, logins, labels, gone)


def _load(sources: Sources) -> "tuple[Declared, Sequence[DeclaredOperator]]":
    """Return what files declare. Raises BadInput."""
    variables = parse_variables(tuple(sources.var))
    readers = []
    if sources.may_have_operators:
        from jsctl.auth.declared.load import OperatorReader

        readers = [OperatorReader(variables)]
    declared = load(sources.texts, variables, *readers).select(sources.targets, prune=sources.prune)
    if sources.show_values:
        streams = [replace(stream, hidden=frozenset()) for stream in declared.streams]
        declared = replace(declared, streams=streams)
    return declared, [operator for reader in readers for operator in reader.operators]


def check_rehearsable(
    env: Env, files: tuple[str, ...], var: tuple[str, ...], *, prune: bool, contexts: Sequence[str]
) -> frozenset[str]:
    """Return the contexts that files name. Raise BadInput for files that are refused without asking a server,
    or that are about more than `contexts`, which are all that a rehearsal has; the first is that of files
    that name none."""
    declared, operators = _load(SourceOptions(files, var, prune=prune).read(env))
    if operators:
        raise BadInput("a rehearsal has no operators", "put what is below `operators` into another file")
    named = declared.contexts | {place.context for place in declared.places}
    if others := sorted(named - {"", *contexts}):
        raise BadInput(
            f"the file is about context {others[0]}, and the rehearsal about {', '.join(contexts)}",
            f"choose it with {build_flag('--context', others[0])}",
        )
    if prune and not declared.labels:
        raise BadInput("--prune needs a label", "add `label: NAME` to the file")
    return frozenset(named - {""})


async def _plan_streams(
    env: Env, sources: Sources, comparison: Comparison, rules: Rules, *, only_shows: bool
) -> tuple[Plan, Mapping[Place, Target]]:
    """Compare declared streams with those on servers; return the plan with all warnings, and the servers of
    each place. Raises what requests raise."""
    targets = await open_targets(env, comparison.declared, comparison.logins)
    await refuse_unknown_places(env, comparison.gone, targets)
    plan = await make_plan(
        comparison.declared,
        targets,
        rules,
        prune=sources.prune,
        try_out=try_on_scratch_server(env),
        limits=comparison.auth.build_account_infos() if comparison.auth else {},
        storage=StorageSource(partial(_fetch_free_storage, env, comparison.auth), may_create=not only_shows),
    )
    declared = [name for stream in comparison.declared.streams for name in (stream.name, stream.renamed_from)]
    held = comparison.auth.list_held() if comparison.auth else ()
    refuse_unknown(sources.unprotect, [*declared, *(step.stream for step in plan.steps), *held])
    of_store = comparison.auth.plan.warnings if comparison.auth else ()
    of_servers = await _warn_of_servers(plan)
    warnings = [*comparison.declared.warnings, *of_store, *plan.warnings, *of_servers]
    return plan._replace(warnings=warnings), targets


async def _fetch_free_storage(env: Env, auth: "DeclaredAuth | None", api: Api) -> Sequence[Json]:
    """Return what storage servers have left (see `StorageSource`): as the login sees it, or one of the system
    account that the store of declared operators signs."""
    if (servers := await fetch_free_storage(api.connection)) or auth is None:
        return servers
    with suppress(JsctlError):
        return await fetch_free_storage(await auth.connect_to_system(env))
    return []


async def _warn_of_servers(plan: Plan) -> list[str]:
    """Return warnings about streams for whose replicas too few servers answer; none where the login may not
    ask. A server counts its members that are down, too, so that it may accept them."""
    steps = [step for step in plan.steps if step.is_placed and not step.refused]
    servers: dict[int, list[Json]] = {}
    warnings = []
    for step in steps:
        connection = step.target.api.connection
        if id(connection) not in servers:
            servers[id(connection)] = await fetch_visible_servers(connection)
        if shortage := find_shortage(step.after or {}, servers[id(connection)]):
            warnings.append(f"{step.position}: {step.format_name()}: {shortage}")
    return warnings


def _without_accounts(declared: Declared, removed: Collection[str]) -> Declared:
    """Return the declarations without what is only known to be in accounts that are removed, and goes with
    them. Raises BadInput for a declared stream there."""
    for stream in declared.streams:
        if stream.place.account in removed:
            raise BadInput(
                f"{stream.position}: stream {stream.name} is in account {stream.place.account}, which --prune"
                " removes",
                "declare the account below operators",
            )
    labels = {place: names for place, names in declared.labels.items() if place.account not in removed}
    return replace(declared, labels=labels)


def _plan_operators(
    env: Env, sources: Sources, operators: "Sequence[DeclaredOperator]"
) -> "DeclaredAuth | None":
    """Return the plan for declared operators; None if there are none. Raises BadInput."""
    if not operators:
        return None
    from jsctl.auth.folders import make_choices
    from jsctl.commands.declared.auth import DeclaredAuth

    folders = make_choices(env.environ, sources.store).folders
    return DeclaredAuth(folders, operators, sources)


async def _ask_servers(
    env: Env, declared: Declared, auth: "DeclaredAuth | None", sources: Sources, *, only_shows: bool
) -> "AccountLogins | None":
    """Find which declared accounts the servers lack, if accounts will be sent.

    Returns logins for the places that name an account, which imply --push; None if there are none. Raises
    what connecting raises, JsctlError.
    """
    logins = None
    if any(place.account for place in declared.places):
        from jsctl.auth.folders import make_choices
        from jsctl.commands.declared.logins import AccountLogins

        folders = make_choices(env.environ, sources.store).folders
        logins = AccountLogins(folders, auth.operators if auth else (), may_lack=bool(auth) or only_shows)
    if auth and (sources.push or (sources.push is None and logins)):
        await auth.open_pushes(env)
        if logins:
            logins.missing = auth.missing
    return logins
