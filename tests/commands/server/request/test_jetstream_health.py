"""`server request jetstream-health`."""

from tests.support.run import Cli
from tests.support.server_requests import answers
from tests.support.waiting import wait_until


def test_jetstream_health(system: Cli) -> None:
    # A busy server may not be ready within the millisecond that monitor.go gives it.
    wait_until(lambda: answers(system, "jetstream-health"), lambda data: data["status"] == "ok")


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request jetstream-health --nope", status=64).err
