"""Verbs that are a screen end at once where there is no terminal, so that no script waits for ever."""

import json

import pytest

from tests.contract.test_commands import VERBS
from tests.support import js
from tests.support.run import Cli

SCREENS = [
    path for path in VERBS if path == "top" or path.startswith("server watch ") or path.endswith(" graph")
]


@pytest.mark.parametrize("path", SCREENS)
def test_a_screen_needs_a_terminal(path: str, offline_cli: Cli) -> None:
    names = {"stream graph": "S", "consumer graph": "S C", "server graph": "n1"}.get(path, "")
    refused = offline_cli(f"{path} {names}", status=64)
    assert refused.out == ""
    assert refused.err.startswith(f"jsctl: error: jsctl {path} is a screen and needs a terminal; --json or")
    assert refused.err.count("\n") == 1


def test_a_form_or_a_number_of_rounds_asks_for_lines(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    assert len(cli("stream graph S --count 1", status=0).out.splitlines()) == 2
    assert len(cli("stream graph S --count 1 --as plain", status=0).out.splitlines()) == 2
    assert json.loads(cli("stream graph S --count 1 --json", status=0).out)["messages"] == 0
