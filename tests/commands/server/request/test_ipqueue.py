"""`server request ipqueue`."""

import pytest

from tests.support.run import Cli
from tests.support.server_requests import answers

pytestmark = pytest.mark.slow


def test_ipqueue(system: Cli) -> None:
    data = answers(system, "ipqueue")
    assert all({"pending", "in_progress"} <= set(queue) for queue in data.values())


def test_a_mistake(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request ipqueue --nope", status=64).err
