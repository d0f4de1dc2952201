"""The callback of groups that are also verbs, such as `report`, which has `report history`."""

from collections.abc import Callable
from typing import Any

import click


def make_group_callback(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a group's callback that runs only without a subcommand; with one, its flags are errors."""

    def run(*args: Any, **values: Any) -> Any:
        ctx = click.get_current_context()
        if not ctx.invoked_subcommand:
            return callback(*args, **values) if callback else None
        for param in ctx.command.params:
            source = ctx.get_parameter_source(param.name or "")
            if param.name in values and source is click.core.ParameterSource.COMMANDLINE:
                path = f"{ctx.command_path} {ctx.invoked_subcommand}"
                raise click.UsageError(
                    f"{param.opts[0]} is for {ctx.command_path} alone, not for {path}", ctx
                )
        return None

    return run
