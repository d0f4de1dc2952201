"""`server request subscriptions`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_subscriptions(system: Cli) -> None:
    data = answers(system, "subscriptions")
    assert data["num_subscriptions"] > 0


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request subscriptions --nope", status=64).err
