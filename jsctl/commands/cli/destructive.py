"""--force, --dry-run and --missing-ok, the same for every verb that destroys something.

Such a verb announces what it is about to do in one place, `await env.confirm(Intent(...), force=force)`,
which asks, or ends the verb and shows what it would have done. `env.announce(Intent(...))` is for what is
done without a question. With --missing-ok, an error with the status NOT_FOUND ends the verb as a success;
where several names are given, the verb passes such an error to `env.report_missing`, and goes on.
"""

from collections.abc import Sequence

import click

from jsctl.commands.cli.declare import Decorator, F, declare_all, option


def _set(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Set the attribute of Env that has the name of the flag."""
    if value and ctx.obj is not None:
        setattr(ctx.obj, str(param.name), True)


def dry_run_flag(help: str = "Only show what would be done") -> Decorator:
    """Declare --dry-run, which the verb finds in `env.dry_run`."""
    return option("--dry-run", is_flag=True, expose_value=False, callback=_set, help=help)


_missing_ok = option(
    "--missing-ok",
    "--if-exists",
    is_flag=True,
    expose_value=False,
    callback=_set,
    help="Succeed if what is named does not exist",
)


def destructive(
    force: str,
    dry_run: str = "Only show what would be done",
    *,
    no_force: bool = False,
    missing_ok: bool = False,
    also: Sequence[str] = (),
) -> Decorator:
    """Declare --dry-run and --force; an argument that is empty is refused. force, dry_run: their help.
    no_force, missing_ok: declare --no-force, --missing-ok, too. also: other names of --force.
    """
    name = "--force/--no-force" if no_force else "--force"
    forcing = option(*also, name, "-f", "force", is_flag=True, default=False, help=force)
    declare_flags = declare_all(dry_run_flag(dry_run), forcing, *([_missing_ok] if missing_ok else []))

    return lambda function: declare_flags(refusing_blanks(function))


def refusing_blanks(function: F) -> F:
    """Let a verb refuse arguments that are empty, as where a script's variable is not set."""
    function.is_destructive = True  # type: ignore[attr-defined]
    return function
