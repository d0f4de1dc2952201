"""Flags that arrive as one options object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
import pytest

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env


@dataclass(frozen=True, slots=True)
class Paging:
    page: int


@dataclass(frozen=True, slots=True)
class Options:
    stream: str
    names: bool
    paging: Paging
    config: Mapping[str, Any]


@command("ls", examples=["jsctl stream ls"])
@argument("stream")
@option("--names", is_flag=True, help="Names only")
@option("--page", type=int, default=10, help="Messages on a page")
@option("--max-age", into="config", help="A key of the configuration")
@option("--subjects", into="config", multiple=True, help="Another")
def ls(env: Env, options: Options) -> Options:
    """More."""
    return options


def test_flags_are_fields_and_flags_of_fields() -> None:
    options = ls.main(["S", "--names", "--page", "5", "--max-age", "1h"], standalone_mode=False)
    assert options == Options("S", True, Paging(5), {"max_age": "1h"})
    assert ls.help == "More."


def test_the_mapping_is_there_without_its_flags() -> None:
    assert ls.main(["S"], standalone_mode=False) == Options("S", False, Paging(10), {})


def test_keywords_stand_beside_fields() -> None:
    @command("view", examples=[])
    @argument("stream")
    @option("--page", type=int, default=10, help="Messages on a page")
    def view(env: Env, stream: str, paging: Paging) -> tuple[str, Paging]:
        """More."""
        return stream, paging

    assert view.main(["S", "--page", "5"], standalone_mode=False) == ("S", Paging(5))


def test_other_names_are_an_error_at_once() -> None:
    def work(env: Env, options: Paging) -> None:
        """More."""

    with pytest.raises(TypeError, match="differ in other, page"):
        command("ls", examples=[])(option("--other", help="Of no field")(work))


def test_a_short_flag_is_read_by_its_long_name_wherever_it_stands() -> None:
    @command("view", examples=[])
    @argument("streams", nargs=-1)
    @option("--page", "-p", type=int, default=10, help="Messages on a page")
    @option("-q", "quiet", is_flag=True, help="Say nothing")
    def view(env: Env, streams: tuple[str, ...], page: int, quiet: bool) -> tuple[object, ...]:
        """More."""
        return streams, page, quiet

    for line in ("-p 5 S -q", "-q -p 5 S", "-p5 -q S", "-qp 5 S", "S -q -p 5", "--page 5 -q S"):
        assert view.main(line.split(), standalone_mode=False) == (("S",), 5, True)
    assert view.main(["-q", "--", "-p"], standalone_mode=False) == (("-p",), 10, True)
    for wrong in (["-p"], ["-p", "S"], ["-x", "S"]):
        with pytest.raises(click.UsageError):
            view.main(wrong, standalone_mode=False)
