"""The common parts of apply and diff: what is declared, the contexts and domains that files name, and the
plan."""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from jsctl.base.files import CONFIG_SIZE, is_replaced, read_input, read_text
from jsctl.base.loops import gather
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import declare_all, option
from jsctl.commands.declared.applied_places import FormerPlace, add_former_places, refuse_unknown_places
from jsctl.commands.declared.trying import try_on_scratch_server
from jsctl.commands.options.protection import refuse_unknown, unprotect_flag
from jsctl.contexts.model import name_place
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound, collecting, raise_all
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.declared.compare import Rules
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.plan import Plan, make_plan
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.declared.variables import parse_variables
from jsctl.jetstream.identity import find_first_places
from jsctl.jetstream.stream.replicas import find_shortage
from jsctl.monitor.server.requests import ping_account
from jsctl.nats.connection import Connection
from jsctl.views.declared import plan as view
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.auth.declared.model import DeclaredOperator
    from jsctl.commands.declared.auth import DeclaredAuth
    from jsctl.commands.declared.logins import AccountLogins

_PUSH_HELP = (
    "Also send the accounts to servers, as jsctl auth account push does; the default if streams name one"
)
_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The flags of apply and diff that say what is declared and what is compared. files: the values of -f;
    the others as in Sources."""

    files: tuple[str, ...]
    var: tuple[str, ...]
    store: str
    prune: bool
    push: bool | None
    take_ownership: bool
    unprotect: tuple[str, ...]
    targets: tuple[str, ...]
    show_values: bool

    def read(self, env: Env) -> "Sources":
        """Read the files. Raises BadInput, NotFound."""
        if not self.files:
            raise BadInput("there is nothing to compare", "name files with -f")
        texts: dict[str, str] = {}
        digests: dict[str, str] = {}
        for file in self.files:
            read = {
                path: read_input(path, env.streams.stdin) for path in _list_paths(file) if path not in texts
            }
            texts |= read
            path = expand_home(file).absolute()
            if is_replaced(path):
                digests[str(path)] = _compute_digest(path, {name: texts[name] for name in _list_paths(file)})
        named = [("stdin" if path == "-" else path, text) for path, text in texts.items()]
        others = {name: getattr(self, name) for name in Sources._fields if hasattr(self, name)}
        return Sources(named, digests=digests, **others)


class Sources(NamedTuple):
    """Everything that a plan follows from, but for the servers.

    texts: name and text of each file. var: NAME=VALUE. store: the folder for operators. push: None for the
    default. targets: names of the streams and buckets that are compared; all without any. digests: of the
    files and folders of -f, by absolute path. show_values: whether output has what `values_from` brings.
    """

    texts: Sequence[tuple[str, str]]
    var: Sequence[str]
    store: str
    prune: bool
    push: bool | None
    take_ownership: bool
    unprotect: Sequence[str]
    targets: Sequence[str]
    digests: Mapping[str, str] = MappingProxyType({})
    show_values: bool = False

    @property
    def may_have_operators(self) -> bool:
        """Whether files may declare operators, so that they have to be parsed for these."""
        return any("operators" in text for _, text in self.texts)

    def build_rules(self, *, allow_loss: bool = False, is_exact: bool = False) -> Rules:
        """Return what the command line permits."""
        return Rules(self.take_ownership, allow_loss, frozenset(self.unprotect), is_exact)


class Comparison(NamedTuple):
    """What files declare, compared with the store of operators. labels: by place, as the files name them.
    logins: for places that name an account. gone: places of the labels to which no context leads any more.
    """

    declared: Declared
    auth: "DeclaredAuth | None"
    logins: "AccountLogins | None"
    labels: Mapping[Place, frozenset[str]]
    gone: Sequence[FormerPlace] = ()


source_flags = declare_all(
    option(
        "--file",
        "-f",
        "files",
        multiple=True,
        metavar="FILE|DIR",
        selects=True,
        help="File, folder of .yaml, .yml and .json files, or - for stdin; may be repeated",
    ),
    option("--var", multiple=True, metavar="NAME=VALUE", help="Value of a variable; may be repeated"),
    option("--store", metavar="DIR", default="", help="Folder for operators (that of nsc and nats auth)"),
    option("--push/--no-push", default=None, help=_PUSH_HELP),
    option("--prune", is_flag=True, help="Remove what carries a label and is no longer declared"),
    option("--take-ownership", is_flag=True, help="Take over what belongs to another label"),
    unprotect_flag,
    option(
        "--target",
        "targets",
        multiple=True,
        metavar="NAME",
        selects=True,
        help="Only this stream or bucket, with its consumers; may be repeated",
    ),
    option("--show-values", is_flag=True, help="Show the values of files that values_from names"),
)
"""The flags of SourceOptions."""


async def compare_sources(env: Env, sources: Sources, *, is_planning: bool) -> Comparison:
    """Read what files declare, and compare its operators with the store and with servers. Raises BadInput,
    and what connecting raises."""
    variables = parse_variables(tuple(sources.var))
    operators: Sequence[DeclaredOperator] = ()
    errors: list[BadInput] = []
    declared = Declared((), {})
    with collecting(errors):
        declared = load(sources.texts, variables).select(sources.targets, prune=sources.prune)
        if sources.show_values:
            streams = [replace(stream, hidden=frozenset()) for stream in declared.streams]
            declared = replace(declared, streams=streams)
    with collecting(errors):
        if sources.may_have_operators:
            from jsctl.auth.declared.load import load_operators

            operators = load_operators(sources.texts, variables)
    raise_all(errors)
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
    if sources.prune and not (declared.labels or (auth and auth.has_label)):
        raise BadInput("--prune needs a label", "add `label: NAME` to the file")
    logins = await _ask_servers(env, declared, auth, sources, is_planning=is_planning)
    if auth:
        await auth.measure_removals(env)
    return Comparison(declared, auth, logins, labels, gone)


async def plan_streams(
    env: Env, sources: Sources, comparison: Comparison, rules: Rules
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
    )
    declared = [name for stream in comparison.declared.streams for name in (stream.name, stream.renamed_from)]
    held = comparison.auth.list_held() if comparison.auth else ()
    refuse_unknown(sources.unprotect, [*declared, *(step.stream for step in plan.steps), *held])
    of_store = comparison.auth.plan.warnings if comparison.auth else ()
    of_servers = await _warn_of_servers(plan)
    warnings = [*comparison.declared.warnings, *of_store, *plan.warnings, *of_servers]
    return plan._replace(warnings=warnings), targets


async def _warn_of_servers(plan: Plan) -> list[str]:
    """Return warnings about streams for whose replicas too few servers answer; none where the login may not
    ask. A server counts its members that are down, too, so that it may accept them."""
    steps = [step for step in plan.steps if step.is_placed and not step.refused]
    servers: dict[int, Sequence[Json]] = {}
    warnings = []
    for step in steps:
        connection = step.target.api.connection
        if id(connection) not in servers:
            with contextlib.suppress(JsctlError):
                replies = await ping_account(connection, "STATZ", {"include_unused": True})
                servers[id(connection)] = [reply["server"] for reply in replies]
        known = servers.setdefault(id(connection), ())
        if known and (shortage := find_shortage(step.after or {}, known)):
            warnings.append(f"{step.position}: {step.format_name()}: {shortage}")
    return warnings


def show_plan(env: Env, plan: Plan, comparison: Comparison) -> Result:
    """Return a plan as it is shown, and write its warnings to stderr."""
    for warning in plan.warnings:
        env.say(f"warning: {warning}")
    result = view.plan_result(plan)
    return comparison.auth.show_plan(result) if comparison.auth else result


def _plan_operators(
    env: Env, sources: Sources, operators: "Sequence[DeclaredOperator]"
) -> "DeclaredAuth | None":
    """Return the plan for declared operators; None if there are none. Raises BadInput."""
    if not operators:
        return None
    from jsctl.auth.folders import make_choices
    from jsctl.commands.declared.auth import DeclaredAuth

    folders = make_choices(env.environ, sources.store).folders
    return DeclaredAuth(folders, operators, sources.prune, sources.take_ownership, sources.unprotect)


async def _ask_servers(
    env: Env, declared: Declared, auth: "DeclaredAuth | None", sources: Sources, *, is_planning: bool
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
        logins = AccountLogins(folders, auth.operators if auth else (), is_planning=is_planning)
    if auth and (sources.push or (sources.push is None and logins)):
        await auth.open_pushes(env, is_planning=is_planning)
        if logins and is_planning:
            logins.lacking = auth.lacking
    return logins


async def open_targets(env: Env, declared: Declared, logins: "AccountLogins | None") -> dict[Place, Target]:
    """Return every place with its API; one connection for each context and account, all opened at once.

    logins: for places that name an account. Raises BadInput.
    """
    settings = {place.context: env.settings(place.context) for place in declared.places}
    # A context whose places all name an account needs no login of its own.
    contexts_with_login = [
        context for context in settings if any(not p.account for p in declared.places if p.context == context)
    ]
    connections = await open_connections(env, [settings[context] for context in contexts_with_login])
    connections_by_login = {
        (context, ""): (connection, False)
        for context, connection in zip(contexts_with_login, connections, strict=True)
    }
    if logins:
        account_places = list(
            dict.fromkeys((place.context, place.account) for place in declared.places if place.account)
        )
        logged_in = await gather(
            logins.connect(env, settings[index], account) for index, account in account_places
        )
        connections_by_login.update(zip(account_places, logged_in, strict=True))
    targets = {
        place: _make_target(
            env, place, settings[place.context], *connections_by_login[place.context, place.account]
        )
        for place in declared.places
    }
    for place, target in targets.items():
        if place.account and logins and not target.is_missing:
            await logins.wait(target.api, place.account)
    for place in declared.places:
        where = name_place(settings[place.context].at(place.domain))
        account = f"account {place.account}" if place.account else ""
        env.note_place(" ".join(filter(None, (where if place.context or not account else "", account))))
    present = [place for place, target in targets.items() if not target.is_missing]
    numbers = await find_first_places([targets[place].api for place in present])
    keys = dict(zip(present, numbers, strict=True))
    return {
        place: target._replace(key=keys.get(place, len(present) + number))
        for number, (place, target) in enumerate(targets.items())
    }


async def open_connections(env: Env, settings: Sequence[Settings]) -> list[Connection]:
    """Open a connection for each of the settings, all at once; settings that differ only in the domain share
    one.
    """
    keys = [replace(place, js_domain="", js_api_prefix="", context="") for place in settings]
    distinct = list(dict.fromkeys(keys))
    connections = await gather(env.connect(key) for key in distinct)
    by_key = dict(zip(distinct, connections, strict=True))
    return [by_key[key] for key in keys]


def _make_target(
    env: Env, place: Place, settings: Settings, connection: Connection, is_missing: bool
) -> Target:
    there = settings.at(place.domain)
    api = Api(connection, domain=there.js_domain, prefix=there.js_api_prefix, trace=env.trace)
    domain = api.domain if is_missing else api.own_domain
    return Target(api, settings.context, domain, place.account, is_missing)


def list_changed_files(sources: Sources) -> list[str]:
    """Return the files and folders of -f that say something else since they were read. One that is gone says
    nothing."""
    changed = []
    for path, digest in sources.digests.items():
        if Path(path).exists():
            texts = {name: read_text(Path(name), limit=CONFIG_SIZE) for name in _list_paths(path)}
            changed += [path] if _compute_digest(Path(path), texts) != digest else []
    return changed


def _compute_digest(root: Path, texts: Mapping[str, str]) -> str:
    """Return a digest of the names and texts of files, wherever the folder is. root: the file or folder."""
    named = sorted((os.path.relpath(Path(name).absolute(), root), text) for name, text in texts.items())
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _list_paths(file: str) -> list[str]:
    """Return the file itself, or the files of a folder and its subfolders, but for hidden ones. Raises
    NotFound for a folder without any."""
    folder = expand_home(file)
    if file == "-" or not folder.is_dir():
        return [file]
    paths = sorted(
        str(path)
        for path in folder.rglob("*")
        if path.suffix in _SUFFIXES
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not path.is_dir()
    )
    if not paths:
        raise NotFound(f"there is no .yaml, .yml or .json file in {file}")
    return paths
