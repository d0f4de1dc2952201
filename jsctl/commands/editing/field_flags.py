"""Flags built from the fields of a configuration, the same for every noun."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from jsctl.commands.cli import declare_all, option
from jsctl.commands.cli.declare import CollectedOption, Decorator
from jsctl.commands.cli.values import Parsed
from jsctl.jetstream.config.field import ExtraFlag, Field
from jsctl.jetstream.config.kind import Kind, Text
from jsctl.jetstream.config.kinds import Choice, ListOf, Map, Switch, Texts
from jsctl.jetstream.config.numbers import Duration, Size
from jsctl.jetstream.config.schema import Schema


@dataclass(frozen=True, slots=True)
class ConfigFlags:
    """The flags of a configuration; part of a verb's options.

    fields: the values of the flags that `config_flags` adds, of those that were given, by keyword.
    """

    fields: Mapping[str, Any]

    @property
    def values(self) -> dict[str, Any]:
        """Return the values by flag, as `Schema.apply_flags` takes them."""
        return {name.replace("_", "-"): value for name, value in self.fields.items()}


class _Removal(CollectedOption):
    """A flag that removes a key. Its opposite, for scripts that turn flags on and off, is not in the help."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        return ", ".join(self.opts), self.help or ""


def config_flags(schema: Schema, verb: str) -> Decorator:
    """Return a decorator that adds the flags of a configuration that `verb` ("add", "edit", "copy") takes,
    for `ConfigFlags`.
    """
    removals = reversed([*schema.removals.items()]) if verb == "edit" else ()
    return declare_all(
        *(_removal_option(flag, key) for flag, key in removals),
        *(_field_option(field) for field in schema.list_flags(verb)),
    )


def list_other_flags(schema: Schema, sections: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the flags of a configuration that no section of help has, such as those of new fields."""
    named = {flag for flags in sections.values() for flag in flags}
    return [f"--{field.flag}" for field in schema.fields if field.flag and f"--{field.flag}" not in named]


def extra_flags(flags: Sequence[ExtraFlag], verb: str, *, into: str = "") -> Decorator:
    """Return a decorator that adds flags without a key of their own, of those that `verb` takes. into: see
    `cli.option`.
    """
    return declare_all(
        *(
            _kind_option(
                extra.flag,
                extra.kind,
                extra.help,
                extra.metavar,
                {"default": extra.default} | ({"into": into} if into else {}),
            )
            for extra in flags
            if not (extra.create_only and verb == "edit")
        )
    )


def _removal_option(flag: str, key: str) -> Decorator:
    text = "Stop republishing" if key == "republish" else f"Remove the {key.replace('_', ' ')}"
    return option(f"--{flag}/--no-{flag}", into="fields", cls=_Removal, default=None, help=text)


def _field_option(field: Field) -> Decorator:
    is_plain = isinstance(field.kind, Texts) and field.kind.metavar == Kind.metavar
    metavar = field.flag.rstrip("s").upper() if is_plain else ""
    return _kind_option(field.flag, field.kind, field.help, metavar, {"into": "fields", "default": None})


def _kind_option(flag: str, kind: Kind, help: str, metavar: str, attrs: dict[str, Any]) -> Decorator:
    """Return the option of a flag whose value has a kind. metavar: replaces the kind's."""
    name = f"--{flag}"
    kind_attrs: dict[str, Any] = {"multiple": kind.repeatable, "metavar": metavar or kind.metavar}
    if isinstance(kind, Switch):
        name = f"{name}/--no-{flag}" if kind.negatable else name
        kind_attrs = {"is_flag": True}
    elif isinstance(kind, Choice):
        kind_attrs = {"type": click.Choice(list(kind.choices), case_sensitive=False)}
    elif not isinstance(kind, (Text, Map, ListOf, Texts)):
        may_be_blank = isinstance(kind, (Duration, Size))
        kind_attrs["type"] = Parsed(kind.metavar.lower(), kind.parse, may_be_blank=may_be_blank)
    return option(name, help=help, **attrs, **kind_attrs)
