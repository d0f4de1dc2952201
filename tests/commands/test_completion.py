"""`completion`; tests/contract/test_completion.py lets shells use what it prints."""

from jsctl.commands.completing.shells import FILES
from tests.support.run import Cli


def test_help_and_errors_name_the_shells(offline_cli: Cli) -> None:
    shown = offline_cli("completion --help", status=0).out
    for shell, file in FILES.items():
        assert f"jsctl completion {shell} > " in shown
        assert shell in offline_cli("completion", status=64).err
        assert shell in offline_cli("completion csh", status=64).err
        assert file
