"""The callback of --help and --help-llm."""

from typing import Any, cast

import click


class HelpfulRoot(click.Group):
    """The root command, as far as help needs it."""

    def build_markdown_help(self, ctx: click.Context) -> str:
        """Return the help of a command in Markdown."""
        raise NotImplementedError


def show_help(ctx: click.Context, param: click.Parameter | None, value: Any) -> None:
    """Show the help of a command, in Markdown for a language model, and end."""
    if not value or ctx.resilient_parsing:
        return
    env = ctx.obj
    out = env and env.streams.stdout
    if (param is not None and param.name == "help_llm") or (env is not None and env.is_for_models):
        click.echo(cast(HelpfulRoot, ctx.find_root().command).build_markdown_help(ctx), out)
        ctx.exit()
    text = ctx.get_help() + "\n"
    if env is None or not env.page(text):
        click.echo(text, out, nl=False, color=ctx.color)
    ctx.exit()
