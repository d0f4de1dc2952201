"""Command lines for pasting: a real shell reads exactly the words that were meant, and runs nothing else."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.command_lines import Suggestion, adding_place_flags, build_flag, build_line
from jsctl.render.text import clean
from tests.support.pasting import HOSTILE, run_pasted


@pytest.mark.parametrize("name", HOSTILE)
def test_a_shell_reads_the_same_words(tmp_path: Path, name: str) -> None:
    context = build_flag("--context", name)
    line = build_line("stream info", name, flags=context)
    assert clean(line) == line, "a terminal would show something else"
    assert run_pasted(tmp_path, line) == [read_back(["stream", "info"], [name], context)]


@pytest.mark.parametrize("name", HOSTILE)
def test_lines_that_are_joined(tmp_path: Path, name: str) -> None:
    line = f"{build_line('stream rm', name)} && {build_line('stream add', name)}"
    calls = run_pasted(tmp_path, line)
    assert calls == [read_back(["stream", "rm"], [name]), read_back(["stream", "add"], [name])]


def test_any_text(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pasted")

    @given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=3))
    def check(names: list[str]) -> None:
        line = build_line("kv get", *names)
        assert clean(line) == line
        assert run_pasted(folder, line) == [read_back(["kv", "get"], names)]

    check()


def test_bytes_of_a_path_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"a\xff b")
    assert run_pasted(tmp_path, build_line("server stop", name)) == [["server", "stop", name]]


def test_plain_names_stay_plain() -> None:
    assert build_line("stream info", "ORDERS") == "jsctl stream info ORDERS"
    assert (
        build_line("stream edit", "ORDERS", flags=["--replicas", "3"])
        == "jsctl stream edit ORDERS --replicas 3"
    )
    assert build_line("sub", "orders.>") == "jsctl sub 'orders.>'"
    assert build_line("kv get", "-B", "k", flags=["--raw"]) == "jsctl kv get --raw -- -B k"
    assert build_line("kv get", "کتاب\u200cها") == "jsctl kv get 'کتاب\u200cها'"


def test_the_place() -> None:
    verbs = []

    def find_flags(verb: str) -> Sequence[str]:
        verbs.append(verb)
        return ["--context", "hub"]

    with adding_place_flags(find_flags):
        assert build_line("stream ls") == "jsctl stream ls --context hub"
        assert build_line("stream ls", place=["--context", "leaf"]) == "jsctl stream ls --context leaf"
        assert Suggestion("stream info", ["S"], ["--json"]).at() == "jsctl stream info S --json --context hub"
    assert build_line("stream ls") == "jsctl stream ls"
    assert verbs == ["stream ls", "stream info"]


def read_back(verb: list[str], names: list[str], flags: Sequence[str] = ()) -> list[str]:
    is_odd = any(name.startswith(("-", "@")) for name in names)
    return [*verb, *flags, "--", *names] if is_odd else [*verb, *names, *flags]


def test_the_stub_would_notice(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_pasted(tmp_path, "jsctl stream info E;touch pwned;#")
    assert subprocess.run(["/bin/sh", "-c", "exit 0"], check=False).returncode == 0
