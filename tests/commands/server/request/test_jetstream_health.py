"""`server request jetstream-health`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_jetstream_health(system: Cli) -> None:
    data = answers(system, "jetstream-health")
    assert data["status"] == "ok"


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request jetstream-health --nope", status=64).err
