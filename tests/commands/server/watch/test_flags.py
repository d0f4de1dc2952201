"""What holds for every verb of `server watch`."""

import pytest

from tests.support.run import Cli


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("server watch servers --every 1ms", "use 100ms or more"),
        ("server watch api requests --account '['", "not a valid regular expression"),
        ("server watch api requests --rate 1ms", "use 1s or more"),
    ],
)
def test_wrong_flags(system: Cli, line: str, words: str) -> None:
    outcome = system(line, status=64)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("what", ["servers", "accounts", "jetstream", "api requests"])
def test_without_the_system_account(cli: Cli, what: str) -> None:
    assert "system account" in cli(f"server watch {what} --count 1 --timeout 1s", status=5).err
