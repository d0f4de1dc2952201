"""`jsctl service request`."""

from jsctl.nats.headers import encode_headers
from tests.support.run import Cli
from tests.support.services import answering, reply


def test_an_error_of_a_service_is_status_1(cli: Cli, url: str) -> None:
    endpoints = [{"name": "e", "subject": "w.e"}, {"name": "wild", "subject": "w.*"}]
    failing = encode_headers([("Nats-Service-Error", "broken"), ("Nats-Service-Error-Code", "500")])
    with answering(url, {"$SRV.INFO.W": [reply("info", endpoints=endpoints)], "w.e": [(failing, b"")]}):
        assert "broken (500)" in cli("service request W e x", status=1).err
        assert "jsctl request" in cli("service request W wild x", status=64).err
