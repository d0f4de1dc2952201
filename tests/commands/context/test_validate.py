"""`context validate`, and connections that it and `context info` try."""

import pytest

from jsctl.errors import ExitStatus
from tests.support.contexts import write
from tests.support.run import Cli


def test_connect(cli: Cli, url: str) -> None:
    cli(f"context add good -s {url}", status=0)
    cli(f"context add bad -s {url.replace(':t', ':wrong')}", status=0)
    cli("context add away -s nats://127.0.0.1:1", status=0)
    assert "Connection: OK" in cli("context info good --connect", status=0).out
    assert "Authorization Violation" in cli("context info bad --connect", status=ExitStatus.DENIED).out
    assert cli("context info away --connect --json", status=ExitStatus.UNREACHABLE).json["connection"]
    # The environment takes no part in it.
    cli("context info good --connect", environ={"NATS_URL": "nats://127.0.0.1:1"}, status=0)
    assert cli("context validate", status=0).out.count("OK") == 3
    outcome = cli("context validate --connect --json", status=ExitStatus.UNREACHABLE)
    assert [(c["name"], c["connection"] == "OK") for c in outcome.json] == [
        ("away", False),
        ("bad", False),
        ("good", True),
    ]
    cli("context validate good --connect", status=0)
    cli("context validate nope", status=ExitStatus.NOT_FOUND)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ('{"url": 3}', "'url' must be text"),
        ('{"creds": "/nope"}', "does not exist"),
        ('{"user": "u", "nkey": "/n"}', "more than one login"),
        ('{"cert": "/c"}', "needs both"),
        (
            '{"jetstream_domain": "a", "jetstream_api_prefix": "b"}',
            "both a JetStream domain and an API prefix",
        ),
        ('{"color_scheme": "pink"}', "unknown color scheme"),
        ('{"url": "ftp://x"}', "not a valid server address"),
        ('{"nsc": "nsc://o/a/u"}', "needs the nsc tool"),
    ],
)
def test_validate_finds(cli: Cli, raw: str, problem: str) -> None:
    cli("context add good", status=0)
    write(cli, "bad", raw)
    outcome = cli("context validate", environ={"PATH": ""}, status=ExitStatus.FAILURE)
    assert problem in outcome.out
    assert cli("context validate good", status=0)
