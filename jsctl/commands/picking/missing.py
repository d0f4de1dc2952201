"""Asking on a terminal for arguments that the command line leaves out: a list to pick from, or a question."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jsctl import registry
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli.declare import CheckedOption, PromptedParameter, find_name
from jsctl.commands.picking.nouns import load
from jsctl.commands.picking.pick import pick, validate_name
from jsctl.errors import BadInput
from jsctl.prompts.interview import Interview
from jsctl.prompts.prompter import Choice, Form, Prompter, Question

if TYPE_CHECKING:
    from jsctl.env import Env

_ANSWERS = "jsctl.missing"
_ELSEWHERE = ""


def ask_missing(ctx: click.Context, param: click.Parameter) -> Any:
    """Return the value of a missing parameter, as the command line would have it; a tuple for one of several.

    All missing arguments are asked for together, so that there is a way back. Raises Cancelled, and what
    `pick` raises.
    """
    if _ANSWERS not in ctx.meta or ctx.meta[_ANSWERS][0] is not ctx:
        ctx.meta[_ANSWERS] = (ctx, _ask_all(ctx))
    answer = ctx.meta[_ANSWERS][1][param.name]
    return (answer,) if param.nargs == -1 else answer


def _ask_all(ctx: click.Context) -> dict[str, str]:
    env: Env = ctx.obj
    for param in ctx.command.params:
        if isinstance(param, CheckedOption):
            param.check(env)
    missing = [
        param
        for param in ctx.command.params
        if isinstance(param, PromptedParameter) and param.required and param.name not in ctx.params
    ]

    async def questions(prompter: Prompter) -> dict[str, str]:
        answers: dict[str, str] = {}
        for param in missing:
            answers[str(param.name)] = await _ask_for(env, ctx, param, prompter, answers)
        return answers

    return env.run(Interview(env.prompter, env.say).run(questions))


async def _ask_for(
    env: "Env", ctx: click.Context, param: PromptedParameter, prompter: Prompter, answers: dict[str, str]
) -> str:
    help = getattr(ctx.command, "summary", "")
    flag = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx)
    noun = registry.find_noun(param.noun) if param.noun else None
    if noun and not ctx.params.get("codec"):  # whose keys are not listed as people call them
        parent = answers.get(noun.parent) or find_name(ctx, noun.parent)
        if not noun.parent or parent:
            parent = validate_name(noun.parent, parent) if parent else ""
            return await pick(env, noun.name, "", parent=parent, prompter=prompter)
    if isinstance(param.type, click.Choice):
        return str(
            await prompter.select(_format_label(param), list(param.type.choices), flag=flag, help=help)
        )
    if param.suggestions:
        choices = [Choice(title, str(path)) for title, path in load(param.suggestions)(Path())]
        if choices:
            choices.append(Choice("another path ...", _ELSEWHERE))
            picked = await prompter.select(_format_label(param), choices, flag=flag, help=help)
            if picked != _ELSEWHERE:
                return str(picked)
    form = Form.PATH if param.path else Form.TEXT

    def check(answer: str) -> None:
        _check_answer(ctx, param, answer)

    answer = await prompter.ask(Question(form, _format_label(param), flag, "", help, check=check))
    return str(expand_home(answer)) if param.path and answer != "-" else str(answer)


def _check_answer(ctx: click.Context, param: PromptedParameter, answer: str) -> None:
    """Raise ValueError for an answer that the command line would not accept."""
    if not answer.strip():
        raise ValueError("an answer is needed; ctrl-C ends without a change")
    if param.path and answer != "-" and not expand_home(answer).exists():
        raise ValueError("there is no such file or folder")
    try:
        param.type.convert(answer, param, ctx)
    except click.BadParameter as error:
        raise ValueError(error.message.rstrip(".")) from None
    except BadInput as error:
        raise ValueError(str(error)) from None


def _format_label(param: PromptedParameter) -> str:
    return param.label or str(param.name).replace("_", " ").capitalize()
