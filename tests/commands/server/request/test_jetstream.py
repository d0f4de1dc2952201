"""`server request jetstream`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_jetstream(system: Cli) -> None:
    data = answers(system, "jetstream")
    assert data["config"]["domain"] == "hub"


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request jetstream --nope", status=64).err
