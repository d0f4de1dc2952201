"""What the verbs of `jsctl server check` share: the group's flags, thresholds, how an outcome is shown."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import click

from jsctl.commands.cli import option
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.files import write_atomically
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import failed
from jsctl.views.result import Result
from jsctl.views.server import check as view

GROUP = "server check"  #: the key of the group's flags in `Env.flags`


def group_flags(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the flags that all checks take."""
    verb = option("--outfile", metavar="FILE", default="", help="Write to this file")(verb)
    verb = option("--namespace", metavar="NAME", default="nats_server_check", help="Prefix for Prometheus")(
        verb
    )
    return option("--format", type=click.Choice(view.FORMATS), default="nagios", help="Form of the output")(
        verb
    )


def threshold(name: str, kind: Any, metavar: str, help: str) -> Callable[[Callable[..., Any]], Any]:
    """Declare a threshold; the verb gets those that were given as `thresholds`. kind: a type of click's."""
    return option(name, into="thresholds", type=kind, metavar=metavar, help=help)


def limits_of(thresholds: Mapping[str, Any], defaults: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return thresholds by the name of their flag (`lag-critical`), with defaults."""
    named = {key.replace("_", "-"): float(value) for key, value in thresholds.items() if value is not None}
    return {**(defaults or {}), **named}


async def run_check(env: Env, suite: str, name: str, work: Awaitable[Check]) -> Result:
    """Show the outcome of a check; one that cannot be made is critical."""
    try:
        outcome = await work
    except JsctlError as error:
        outcome = failed(suite, name, error)
    flags = env.flags.get(GROUP, {})
    result = view.check(outcome, flags.get("format", "nagios"), flags.get("namespace", "nats_server_check"))
    if file := flags.get("outfile"):
        try:
            write_atomically(Path(file).expanduser(), view.as_text(result), mode=0o644)
        except OSError as error:
            raise JsctlError(f"cannot write {file}: {error.strerror}") from None
        return Result(data=None, status=result.status)
    return result
