"""The flags of a consumer's configuration, for add, edit and copy."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from jsctl.commands.cli import DURATION, option
from jsctl.commands.shared.field_flags import field_option, parameter
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import config as configs
from jsctl.units import MINUTE

F = TypeVar("F", bound=Callable[..., Any])

_GROUP_HELP = {
    "pinned-groups": "Priority groups whose messages go to one pinned client",
    "overflow-groups": "Priority groups that only get what overflows",
    "prioritized-groups": "Priority groups whose clients have priorities",
}


def consumer_flags(verb: str) -> Callable[[F], F]:
    """Add the flags that `verb` ("add", "edit", "copy") takes; the function gets them as keywords."""

    def declare(function: F) -> F:
        if verb != "edit":
            for flag in reversed(list(configs.GROUPS)):
                function = option(
                    f"--{flag}", parameter(flag), multiple=True, metavar="GROUP", help=_GROUP_HELP[flag]
                )(function)
            function = option("--pause", metavar="TIME", help="Start paused, until a time or for a duration")(
                function
            )
            function = option("--pull", is_flag=True, help="Make it a pull consumer")(function)
            function = option("--ephemeral", is_flag=True, help="Remove it when nobody uses it")(function)
            function = option(
                "--deliver",
                metavar="POLICY",
                help="Start at all, new, last, subject, 1h, a time or a sequence",
            )(function)
        function = option(
            "--sample", type=click.IntRange(0, 100), metavar="PERCENT", help="Acknowledgements to sample"
        )(function)
        function = option(
            "--backoff-max",
            type=DURATION,
            default=20 * MINUTE,
            metavar="DURATION",
            help="Longest retry (20m)",
        )(function)
        function = option(
            "--backoff-min", type=DURATION, default=MINUTE, metavar="DURATION", help="Shortest retry (1m)"
        )(function)
        function = option("--backoff-steps", type=int, default=10, metavar="NUMBER", help="Retries (10)")(
            function
        )
        function = option("--backoff", metavar="MODE", help="Wait before retries: linear, none, or 1s,5s,1m")(
            function
        )
        for field in reversed(configs.FIELDS):
            if verb in field.verbs:
                function = field_option(field)(function)
        return function

    return declare


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The simple flags that were said, by flag."""
    return {
        flag: flags[parameter(flag)]
        for flag in configs.BY_FLAG
        if flags.get(parameter(flag)) not in (None, ())
    }


def said(flags: Mapping[str, Any]) -> bool:
    """Whether any flag says something about the configuration."""
    return (
        bool(given(flags))
        or any(
            flags.get(name) not in (None, (), "", False)
            for name in ("sample", "backoff", "deliver", "pause", "pull", *map(parameter, configs.GROUPS))
        )
        or flags.get("sample") == 0
    )


def laid(config: Json, flags: Mapping[str, Any], now: float) -> Json:
    """A copy of `config` with all that was said laid over it. Raises BadInput."""
    if flags.get("pull") and flags.get("target"):
        raise BadInput("--pull and --target exclude each other")
    made = dict(config)
    if flags.get("pull"):
        made = configs.as_pull(made)
    if flags.get("deliver"):
        made = _read(configs.starting, "--deliver", made, flags["deliver"], now)
    made = configs.lay(made, given(flags))
    if flags.get("sample") is not None:
        made["sample_freq"] = str(flags["sample"])
        if not flags["sample"]:
            del made["sample_freq"]
    if flags.get("backoff"):
        waits = _read(
            configs.backoff,
            "--backoff",
            flags["backoff"],
            steps=flags["backoff_steps"],
            least=flags["backoff_min"],
            most=flags["backoff_max"],
        )
        made["backoff"] = waits
        if not waits:
            del made["backoff"]
    if flags.get("pause"):
        made["pause_until"] = _read(configs.until, "--pause", flags["pause"], now)
    return configs.grouped(made, {flag: flags.get(parameter(flag)) or () for flag in configs.GROUPS})


def _read(reader: Callable[..., Any], flag: str, *args: Any, **more: Any) -> Any:
    try:
        return reader(*args, **more)
    except ValueError as error:
        raise BadInput(f"{flag}: {error}") from None
