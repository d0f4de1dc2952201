"""The common parts of the verbs of `jsctl server check`: thresholds, and the display of an outcome."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import option
from jsctl.contexts.model import strip_logins
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.monitor.check.outcome import Check
from jsctl.views.result import Result
from jsctl.views.server import check as view

_NAMESPACE = "nats_server_check"

Thresholds = Mapping[str, Any]
"""Thresholds that were given, by the name of their flag."""


def threshold(name: str, kind: Any, metavar: str, help: str) -> Callable[[Callable[..., Any]], Any]:
    """Declare a threshold; the verb gets those that were given as `thresholds`. kind: a type of click's."""
    return option(name, into="thresholds", type=kind, metavar=metavar, help=help)


def merge_thresholds(thresholds: Thresholds, defaults: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return thresholds by the name of their flag (`lag-critical`), with defaults."""
    named = {key.replace("_", "-"): float(value) for key, value in thresholds.items() if value is not None}
    return {**(defaults or {}), **named}


async def run_check(env: Env, suite: str, name: str, work: Awaitable[Check]) -> Result:
    """Show the outcome of a check; one that cannot be made is critical."""
    try:
        outcome = await work
    except JsctlError as error:
        outcome = Check(suite, name, criticals=[strip_logins(str(error))])
    form, namespace = env.flags.get("check_format", "nagios"), env.flags.get("check_namespace", _NAMESPACE)
    result = view.check(outcome, form, namespace)
    if file := env.flags.get("check_outfile"):
        with naming_write_errors(file):
            write_atomically(expand_home(file), view.as_text(result), mode=None)
        return Result(data=None, status=result.status)
    return result
