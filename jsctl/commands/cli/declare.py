"""Declarations of a verb: its command, its arguments, its flags, and the object that holds their values."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

import click

from jsctl.commands.cli.completed import Completed
from jsctl.commands.cli.global_flags import GlobalOption
from jsctl.commands.cli.groups import Root
from jsctl.commands.cli.verbs import Command
from jsctl.registry.top import NOUNS

F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """Returns the function that it gets, with a declaration."""

    def __call__(self, function: F, /) -> F: ...


def command(name: str, *, examples: Sequence[str], **attrs: Any) -> Callable[[Callable[..., Any]], Command]:
    """Declare a verb: `@command("ls", examples=["jsctl stream ls"])`. The function takes Env first.

    It takes its flags as keywords. A parameter without a flag of its name is built from the flags that have
    the names of its fields. It is a frozen dataclass, or, in verbs that scripts call in loops, a NamedTuple,
    which starts 0.6 ms sooner:

        @dataclass(frozen=True, slots=True)
        class Options:
            names: bool
            config: Mapping[str, Any]  # flags declared with option(..., into="config")
            paging: Paging             # a dataclass, whose fields are flags, too

            def __post_init__(self) -> None:
                ...                    # raise BadInput for flags that cannot be used together

        @command("ls", examples=["jsctl stream ls"])
        @argument("stream")
        @option("--names", is_flag=True, help="...")
        async def ls(env: Env, stream: str, options: Options) -> Result: ...

    Raises TypeError when such a verb's parameters and flags do not have the same names.
    """

    def declare(function: Callable[..., Any]) -> Command:
        kinds = {key: kind for key, kind in function.__annotations__.items() if key not in ("env", "return")}
        has_options = any(map(_is_options, kinds.values()))
        callback = _pass_options(kinds, function) if has_options else function
        verb = click.command(name, cls=Command, examples=examples, **attrs)(click.pass_obj(callback))
        verb.is_destructive = getattr(function, "is_destructive", False)
        if has_options:
            _check_names(verb, kinds)
        return verb

    return declare


def _pass_options(kinds: Mapping[str, Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with the fields of its dataclasses as keyword arguments. kinds: of its parameters."""

    @functools.wraps(function)
    def call(env: Any, **values: Any) -> Any:
        return function(env, **_build_values(kinds, values))

    return call


def _is_options(kind: Any) -> bool:
    # importing dataclasses would cost 1 ms at every start
    return hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields")


def _list_kinds(options: type[Any]) -> dict[str, Any]:
    if hasattr(options, "_fields"):
        return options.__annotations__
    return {field.name: field.type for field in options.__dataclass_fields__.values()}


def _build_values(kinds: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: values[name] if name in values else kind(**_build_values(_list_kinds(kind), values))
        for name, kind in kinds.items()
    }


def _collect_names(kinds: Mapping[str, Any], flags: set[str]) -> set[str]:
    names: set[str] = set()
    for name, kind in kinds.items():
        is_built = _is_options(kind) and name not in flags
        names |= _collect_names(_list_kinds(kind), flags) if is_built else {name}
    return names


def _check_names(command: click.Command, kinds: Mapping[str, Any]) -> None:
    flags = {
        str(param.into if isinstance(param, CollectedOption) else param.name)
        for param in command.params
        if not isinstance(param, GlobalOption) and (param.expose_value or isinstance(param, CollectedOption))
    }
    if mismatched := sorted(flags ^ _collect_names(kinds, flags)):
        raise TypeError(f"{command.name}: flags and fields differ in {', '.join(mismatched)}")


def declare_all(*flags: Decorator) -> Decorator:
    """Return a decorator that declares several options at once, in this order of the help."""

    def declare(function: F) -> F:
        for flag in reversed(flags):
            function = flag(function)
        return function

    return declare


class Option(Completed, click.Option):
    """An option that counts as missing if its value is empty and its type has `may_be_blank`, as with the
    `nats` tool: scripts pass `--max-age "$AGE"`. A condition has no such type: without it, a verb takes all.

    selects: whether it narrows what a verb changes, or says what it shows in place of the present, so that an
    empty value and 0 are refused.
    """

    def __init__(self, *args: Any, selects: bool = False, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.selects = selects

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, Any]:
        value, source = super().consume_value(ctx, opts)
        if value == "" and getattr(self.type, "may_be_blank", False) and not self.selects:
            return self.get_default(ctx), click.core.ParameterSource.DEFAULT
        return value, source


class CollectedOption(Option):
    """An option whose value goes into the mapping `into`, together with others, if it is on the
    command line.
    """

    def __init__(self, *args: Any, into: str, **attrs: Any) -> None:
        super().__init__(*args, expose_value=False, **attrs)
        self.into = into

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        value, rest = super().handle_parse_result(ctx, opts, args)
        collected = ctx.params.setdefault(self.into, {})
        if ctx.get_parameter_source(self.name or "") is click.core.ParameterSource.COMMANDLINE:
            collected[self.name] = value
        return value, rest


class PromptedParameter(Completed):
    """A parameter that is asked for on a terminal when it is required and missing.

    noun: the registry's noun whose names it takes and completes to; empty for none. label: the question, if
    there is no noun. path: whether it is a path that exists. or_stdin: whether stdin stands for a missing
    one, which is None then; a terminal does not. suggestions: "module:function" that lists such paths in a
    folder, each with a title.
    """

    def __init__(
        self,
        *args: Any,
        noun: str = "",
        label: str = "",
        path: bool = False,
        or_stdin: bool = False,
        suggestions: str = "",
        **attrs: Any,
    ) -> None:
        super().__init__(*args, **{"completes": noun, **attrs})
        self.noun = noun
        self.label = label
        self.path = path
        self.or_stdin = or_stdin
        self.suggestions = suggestions

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        is_missing = self.required and not ctx.resilient_parsing and self.value_is_missing(value)
        if is_missing and self.or_stdin and ctx.obj is not None and not ctx.obj.streams.stdin.isatty():
            return None
        if is_missing and ctx.obj is not None and ctx.obj.can_ask:
            value = cast(Root, ctx.find_root().command).ask_missing(ctx, self)
        return super().process_value(ctx, value)


class Argument(PromptedParameter, click.Argument):
    """An argument, which is asked for when it is missing."""


class NamedOption(PromptedParameter, click.Option):
    """An option that takes the name of a noun, which is asked for when the option is required and missing."""


class CheckedOption(Completed, click.Option):
    """An option with a condition that is checked before anything is asked, so that no answer is lost.

    check: raises JsctlError if the verb cannot do anything.
    """

    def __init__(self, *args: Any, check: Callable[[Any], object], **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.check = check


def find_name(ctx: click.Context, noun: str) -> str:
    """Return the name of a noun on the command line; empty if there is none."""
    for param in ctx.command.params:
        if noun and isinstance(param, PromptedParameter) and param.noun == noun:
            value = ctx.params.get(param.name or "")
            return value if isinstance(value, str) else ""
    return ""


def option(*names: str, into: str = "", noun: str = "", **attrs: Any) -> Decorator:
    """Declare a flag.

    noun: the registry's noun whose names it takes and completes to; without one, `completes` says what it
        completes to.
    selects: see `Option`.
    into: the name of a mapping, which the verb gets as a keyword in place of the flag: the values of all
        flags declared with this name that are on the command line, by flag. For the many flags that are keys
        of a configuration.
    """
    if into:
        attrs = {"cls": CollectedOption, **attrs, "into": into}
    elif noun:
        attrs = {"cls": NamedOption, "noun": noun, **attrs}
    attrs.setdefault("cls", Option)
    return click.option(*names, **attrs)


def argument(name: str, *, noun: str = "", **attrs: Any) -> Decorator:
    """Declare an argument.

    noun: the registry's noun whose names it completes to; the default is the noun of the argument's name.
    label, path, or_stdin, suggestions: how it is asked for on a terminal when it is missing; see
    `PromptedParameter`.
    """
    noun = noun or (name if name in NOUNS else "")
    return click.argument(name, cls=Argument, noun=noun, **attrs)
