"""The flags of a stream's configuration, made from `jetstream.fields` for add, edit and copy."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from jsctl.commands.cli import option
from jsctl.commands.shared.field_flags import field_option, parameter
from jsctl.errors import BadInput
from jsctl.jetstream.config.fields import FIELDS, REMOVALS
from jsctl.jetstream.stream.origins import import_from, parse_origin

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


def stream_flags(verb: str) -> Callable[[F], F]:
    """Add the flags that `verb` ("add", "edit", "copy") takes; the function gets them as keywords."""

    def declare(function: F) -> F:
        for name, (flag, metavar, help) in reversed(_IMPORTS.items()):
            function = option(flag, name, metavar=metavar, default="", help=help)(function)
        if verb == "edit":
            for flag, key in REMOVALS.items():
                what = key.replace("_", " ")
                function = option(
                    f"--{flag}", parameter(flag), is_flag=True, default=None, help=f"Remove the {what}"
                )(function)
        for field in reversed(FIELDS):
            if verb in field.verbs:
                function = field_option(field)(function)
        return function

    return declare


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """What was said on the command line, by flag, as `config.lay` takes it. Raises BadInput."""
    found = {
        flag: flags[parameter(flag)]
        for flag in (*(field.flag for field in FIELDS), *REMOVALS)
        if flags.get(parameter(flag)) not in (None, ())
    }
    imports = [flags.get(name) or "" for name in _IMPORTS]
    if any(imports):
        if "mirror" not in found:
            raise BadInput("--mirror-domain, --mirror-api-prefix and --mirror-deliver-prefix need --mirror")
        domain, api, deliver = imports
        found["mirror"] = import_from(parse_origin(found["mirror"]), domain=domain, api=api, deliver=deliver)
    return found
