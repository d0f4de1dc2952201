"""`server request accounts`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_accounts(system: Cli) -> None:
    data = answers(system, "accounts")
    assert {"ACC", "SYS"} <= set(data["accounts"])


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request accounts --nope", status=64).err
