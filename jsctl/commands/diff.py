"""`jsctl diff`."""

from jsctl.commands.cli import command, option
from jsctl.commands.shared.declared import (
    ask_servers,
    file_flags,
    open_targets,
    plan_operators,
    push_flags,
    read_texts,
)
from jsctl.env import Env
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.declared.plan import make_plan
from jsctl.jetstream.declared.variables import parse_variables
from jsctl.views.declared import plan as view
from jsctl.views.result import Result


@command(
    "diff",
    examples=[
        "jsctl diff -f streams.yaml",
        "jsctl diff -f streams.yaml --var keep=7d --json",
        "jsctl diff -f streams/ --prune",
    ],
)
@file_flags
@push_flags
@option("--prune", is_flag=True, help="Also show what apply --prune would remove")
async def diff(
    env: Env, files: tuple[str, ...], var: tuple[str, ...], store: str, prune: bool, push: bool | None
) -> Result:
    """See jsctl apply --help for the form of the files."""
    texts, variables = read_texts(env, files), parse_variables(var)
    declared = load(texts, variables)
    auth = plan_operators(env, texts, variables, store, prune=prune)
    logins = await ask_servers(env, declared, auth, store, push, is_planning=True)
    plan = await make_plan(declared, await open_targets(env, declared, logins), prune=prune)
    for warning in plan.warnings:
        env.say(f"warning: {warning}")
    result = view.plan_result(plan)
    return auth.show_plan(result) if auth else result
