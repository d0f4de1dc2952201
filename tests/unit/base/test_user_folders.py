"""Paths with `~` in them."""

from pathlib import Path

import pytest

from jsctl.base.user_folders import expand_home
from tests.support.run import Cli


def test_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expand_home("~/a") == tmp_path / "a"
    assert expand_home("~nobody-has-this-name/a") == Path("~nobody-has-this-name/a")
    assert expand_home(Path("a/~")) == Path("a/~")


@pytest.mark.parametrize(
    "line", ["errors ls --errors ~no-one/x", "auth nkey show ~no-one/x", "report --replay ~no-one/x"]
)
def test_a_missing_home_is_a_missing_file(offline_cli: Cli, line: str) -> None:
    outcome = offline_cli(line)
    assert outcome.status not in (0, 70), outcome
    assert "~no-one" in outcome.err
