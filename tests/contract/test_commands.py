"""What holds for every command, whatever it does."""

import re
import shlex
from functools import cache

import click
import pytest

from jsctl import registry
from jsctl.app import root
from jsctl.commands.cli.groups import Group, _load_command
from jsctl.commands.cli.verbs import Command
from jsctl.registry import Entry
from tests.support.run import Cli

COMMANDS = registry.list_commands()
SHELL = ("|", ">", "<", "&&")
"""Words that end a command line in an example."""
VERBS = [path for path, entry in COMMANDS.items() if not entry.group]
NOUNS = sorted({path.split()[0] for path in COMMANDS})
"""Their first words: a test takes the commands of one, as hundreds of tests would take seconds to set up."""


def of_noun(noun: str) -> list[tuple[str, Entry]]:
    """The commands whose path begins with this word."""
    return [(path, entry) for path, entry in COMMANDS.items() if path.split()[0] == noun]


def resolve(words: list[str]) -> click.Command:
    """The command that a path of words reaches."""
    result: click.Command | None = root
    for word in words:
        assert isinstance(result, click.Group), words
        result = result.get_command(click.Context(result), word)
    assert result is not None, words
    return result


@cache
def parse(line: str) -> click.Context:
    """Parse a command line all the way down, running nothing. Tests parse the examples of verbs again and
    again."""
    words = shlex.split(line, comments=True)
    assert words[0] == "jsctl", line
    words = words[: next((at for at, word in enumerate(words) if word in SHELL), len(words))]
    ctx = root.make_context("jsctl", words[1:])
    while isinstance(ctx.command, click.Group):
        left = [*ctx._protected_args, *ctx.args]
        if not left and ctx.command.invoke_without_command:
            break
        name, command, rest = ctx.command.resolve_command(ctx, left)
        assert command is not None, line
        ctx = command.make_context(name, rest, parent=ctx)
    return ctx


@pytest.mark.parametrize("noun", NOUNS)
def test_registry_agrees_with_the_command(noun: str) -> None:
    for path, entry in of_noun(noun):
        words = path.split()
        command = resolve(words)
        assert isinstance(command, Group if entry.group else Command), path
        if not entry.group:
            assert command.name == words[-1]
        for alias in entry.aliases:
            assert resolve([*words[:-1], alias]) is command, (path, alias)


@pytest.mark.parametrize("noun", NOUNS)
def test_help_begins_with_the_line_of_the_registry(noun: str, offline_cli: Cli) -> None:
    for path, entry in of_noun(noun):
        shown = offline_cli([*path.split(), "--help"], status=0).out
        usage, first, rest = re.split(r"\n\s*\n", shown, maxsplit=2)
        assert usage.startswith("Usage: jsctl "), path
        assert " ".join(first.split()) == entry.help, path
        assert entry.help not in rest, f"the own help of {path} repeats it"
        assert not re.search(r"\[.*x[<>]", shown), f"{path}: conditions of click are not for people"


def test_a_group_that_two_threads_load_declares_its_flags_once() -> None:
    for path, entry in COMMANDS.items():
        if entry.group:
            for _ in range(2):
                group = _load_command(path, path.split()[-1], entry)
                assert isinstance(group, Group)
                for name in group.list_commands(click.Context(group)):
                    command = group.get_command(click.Context(group), name)
                    flags = [flag for param in command.params for flag in param.opts] if command else []
                    assert len(flags) == len(set(flags)), (path, name)


def test_the_line_of_the_registry_reads_well() -> None:
    for path, entry in COMMANDS.items():
        assert entry.help[0].isupper(), path
        assert not entry.help.endswith("."), path
        assert len(entry.help) <= 80, f"{path}: longer lines wrap in the list of commands"


@pytest.mark.parametrize("noun", NOUNS)
def test_help_has_examples_that_parse(noun: str) -> None:
    for path, entry in of_noun(noun):
        if entry.group:
            continue
        command = resolve(path.split())
        assert isinstance(command, Command)
        assert command.examples, f"{path} shows no example"
        for example in command.examples:
            first, *piped = example.split(" | jsctl ")
            called = [parse(line).command for line in (first, *(f"jsctl {line} -" for line in piped))]
            assert command in called, f"{example!r} calls another command"


def test_every_flag_is_explained() -> None:
    for path in VERBS:
        names: set[str] = set()
        for param in resolve(path.split()).params:
            if isinstance(param, click.Option) and not param.hidden:
                assert param.help, f"{path} {param.opts[0]} has no help"
            flags = {*param.opts, *param.secondary_opts}
            assert not names & flags, f"{path} declares {names & flags} twice, and the first has no effect"
            names |= flags


@pytest.mark.parametrize("noun", NOUNS)
def test_an_unknown_flag_is_one_line(noun: str, offline_cli: Cli) -> None:
    for path, _ in of_noun(noun):
        outcome = offline_cli([*path.split(), "--no-such-flag"], status=64)
        assert outcome.out == "", path
        assert outcome.err.startswith("jsctl: error: "), path
        assert len(outcome.err.splitlines()) == 1, path


@pytest.mark.parametrize(
    "path", ["stream add", "stream edit", "stream copy", "consumer add", "consumer edit"]
)
def test_many_flags_are_in_sections(path: str, offline_cli: Cli) -> None:
    shown = offline_cli([*path.split(), "--help", "--all"], status=0).out
    flags = shown.split("Other flags:\n")[1].split("\n\n")[0]
    assert flags.count("\n  -") <= 12, "a flag of the configuration has no section"
    assert shown.count(":\n  -") >= 6


def test_help_names_everything_that_works(offline_cli: Cli) -> None:
    shown = offline_cli("--help --all", status=0).out
    assert re.search(r"^  help +\w", shown, re.MULTILINE) and re.search(
        r"^  version +\w", shown, re.MULTILINE
    )
    assert offline_cli("version", status=0).out.startswith("jsctl ")
