"""The flags of a stream's configuration, made from `jetstream.fields` for add, edit and copy."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from jsctl.commands.cli import DURATION, SIZE, option
from jsctl.errors import BadInput
from jsctl.jetstream.fields import FIELDS, REMOVALS, Field
from jsctl.jetstream.origins import import_from, parse_origin

F = TypeVar("F", bound=Callable[..., Any])

_IMPORTS = {
    "mirror_domain": ("--mirror-domain", "DOMAIN", "JetStream domain that --mirror is in"),
    "mirror_api_prefix": ("--mirror-api-prefix", "PREFIX", "API prefix of the account that --mirror is in"),
    "mirror_deliver_prefix": (
        "--mirror-deliver-prefix",
        "PREFIX",
        "Prefix of the subjects that --mirror is delivered on",
    ),
}


class Span(click.ParamType[int]):
    """ns from `1y`; -1 means for ever, which the server writes as 0."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return 0 if value == "-1" else DURATION.convert(value, param, ctx)


class Limit(click.ParamType[int]):
    """A count; below 1 means unlimited, which the server writes as -1."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = click.INT.convert(value, param, ctx)
        return number if number > 0 else -1


def stream_flags(verb: str) -> Callable[[F], F]:
    """Add the flags that `verb` ("add", "edit", "copy") takes; the function gets them as keywords."""

    def declare(function: F) -> F:
        for name, (flag, metavar, help) in reversed(_IMPORTS.items()):
            function = option(flag, name, metavar=metavar, default="", help=help)(function)
        if verb == "edit":
            for flag, key in REMOVALS.items():
                what = key.replace("_", " ")
                function = option(
                    f"--{flag}", _parameter(flag), is_flag=True, default=None, help=f"Remove the {what}"
                )(function)
        for field in reversed(FIELDS):
            if verb in field.verbs:
                function = _option(field)(function)
        return function

    return declare


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """What was said on the command line, by flag, as `config.lay` takes it. Raises BadInput."""
    found = {
        flag: flags[_parameter(flag)]
        for flag in (*(field.flag for field in FIELDS), *REMOVALS)
        if flags.get(_parameter(flag)) not in (None, ())
    }
    imports = [flags.get(name) or "" for name in _IMPORTS]
    if any(imports):
        if "mirror" not in found:
            raise BadInput("--mirror-domain, --mirror-api-prefix and --mirror-deliver-prefix need --mirror")
        domain, api, deliver = imports
        found["mirror"] = import_from(parse_origin(found["mirror"]), domain=domain, api=api, deliver=deliver)
    return found


def _parameter(flag: str) -> str:
    return flag.replace("-", "_")


def _option(field: Field) -> Callable[[F], F]:
    name, flag = _parameter(field.flag), f"--{field.flag}"
    plain: dict[str, Any] = {"default": None, "help": field.help}
    match field.kind:
        case "switch" | "inverse":
            return option(
                f"{flag}/--no-{field.flag}" if field.negatable else flag, name, is_flag=True, **plain
            )
        case "texts" | "subjects":
            return option(flag, name, multiple=True, metavar=field.flag.rstrip("s").upper(), **plain)
        case "map":
            return option(flag, name, multiple=True, metavar="KEY=VALUE", **plain)
        case "origins":
            return option(flag, name, multiple=True, metavar="STREAM", **plain)
        case "origin":
            return option(flag, name, metavar="STREAM", **plain)
        case "choice":
            return option(flag, name, type=click.Choice(list(field.choices), case_sensitive=False), **plain)
        case "span":
            return option(flag, name, type=Span(), metavar="DURATION", **plain)
        case "size":
            return option(flag, name, type=SIZE, metavar="BYTES", **plain)
        case "limit":
            return option(flag, name, type=Limit(), metavar="NUMBER", **plain)
        case "number":
            return option(flag, name, type=click.IntRange(min=0), metavar="NUMBER", **plain)
        case _:
            return option(flag, name, metavar="TEXT", **plain)
