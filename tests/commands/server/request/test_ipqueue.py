"""`server request ipqueue`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_ipqueue(system: Cli) -> None:
    data = answers(system, "ipqueue")
    assert data and all("pending" in queue for queue in data.values())
    busy = answers(system, "ipqueue --no-all")
    assert all(queue.get("pending") or queue.get("in_progress") for queue in busy.values())


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request ipqueue --nope", status=64).err
