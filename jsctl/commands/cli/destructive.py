"""--force and --dry-run, the same for every verb that destroys something.

Such a verb announces what it is about to do in one place, `await env.confirm(Intent(...), force=force)`,
which asks, or ends the verb and shows what it would have done. `env.announce(Intent(...))` is for what is
done without a question.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from jsctl.commands.cli.declare import declare_all, option

F = TypeVar("F", bound=Callable[..., Any])


def _set_dry_run(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and ctx.obj is not None:
        ctx.obj.dry_run = True


def dry_run_flag(help: str = "Only show what would be done") -> Callable[[F], F]:
    """Declare --dry-run, which the verb finds in `env.dry_run`."""
    return option("--dry-run", is_flag=True, expose_value=False, callback=_set_dry_run, help=help)


def destructive(
    force: str, dry_run: str = "Only show what would be done", *, no_force: bool = False
) -> Callable[[F], F]:
    """Declare --dry-run and --force. force, dry_run: their help. no_force: declare --no-force, too."""
    name = "--force/--no-force" if no_force else "--force"
    return declare_all((dry_run_flag(dry_run), option(name, "-f", is_flag=True, default=False, help=force)))
