"""`server request subscriptions`."""

import pytest

from tests.support.run import Cli
from tests.support.server_requests import answers

pytestmark = pytest.mark.slow


def test_subscriptions(system: Cli) -> None:
    data = answers(system, "subscriptions")
    assert data["num_subscriptions"] > 0


def test_a_mistake(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request subscriptions --nope", status=64).err
