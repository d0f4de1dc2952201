"""Short flags, which are found without a search for similar ones."""

import click
import pytest

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env


@command("verb", examples=["jsctl verb"])
@argument("rest", nargs=-1)
@option("--name", "-n", help="A name")
@option("--quiet", "-q", is_flag=True, help="Say nothing")
@option("--loud", "-l", is_flag=True, help="Say much")
def verb(env: Env, rest: tuple[str, ...], **flags: object) -> tuple[object, ...]:
    return (rest, *flags.values())


@pytest.mark.parametrize(
    "line", ["-n x", "-nx", "-n=x", "-q", "-ql", "-qn x", "-lqnx a", "a -q", "-- -q", "--name x -l a -n y"]
)
def test_short_flags_are_those_of_click(line: str) -> None:
    plain = click.Command("verb", params=[p for p in verb.params if p.expose_value])
    expected = plain.make_context("verb", line.split()).params
    assert verb.make_context("verb", line.split()).params == expected


@pytest.mark.parametrize("line", ["-x", "-qx", "-", "-n", "--nam", "-q=1"])
def test_mistakes_are_those_of_click(line: str) -> None:
    def parse(parsed: click.Command) -> object:
        try:
            return parsed.make_context("verb", line.split()).params
        except click.UsageError as error:
            return type(error), error.message

    assert parse(verb) == parse(click.Command("verb", params=[p for p in verb.params if p.expose_value]))
