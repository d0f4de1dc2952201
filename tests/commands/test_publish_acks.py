"""The acks of `publish --jetstream` as JSON."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.mark.usefixtures("outputs_are_valid")
def test_the_acks_are_a_form_of_the_output(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    ack = cli("publish s.a one -J --json", status=0).json
    assert (ack["stream"], ack["seq"]) == ("S", 1)
    again = cli("publish s.a one --jetstream -H Nats-Msg-Id:x --count 1 --json", status=0).json
    twice = cli("publish s.a one --jetstream -H Nats-Msg-Id:x --count 1 --json", status=0).json
    assert again["seq"] == twice["seq"] == 2 and twice["duplicate"]
    cli("publish s.a one --count 2 --json", status=0)
