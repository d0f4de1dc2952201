"""`server request raft`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_raft(system: Cli) -> None:
    data = answers(system, "raft")
    assert data == {}, "a single server has no groups"


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request raft --nope", status=64).err
