"""What a command says and does when its login ends while it runs."""

from pathlib import Path

import pytest

from jsctl.errors import ExitStatus
from tests.support.jwt import Operator, write_creds
from tests.support.run import Cli
from tests.support.servers import RealServer


@pytest.mark.slow
@pytest.mark.parametrize("line", ["sub orders.>", "stream view ORDERS --follow"])
def test_a_jwt_that_expires_ends_the_command(
    offline_cli: Cli, signed: RealServer, operator: Operator, tmp_path: Path, line: str
) -> None:
    """Nothing waits for a connection that cannot come."""
    jwt, key = operator.user()
    lasting = write_creds(tmp_path / "lasting.creds", jwt, key.seed)
    offline_cli(
        f"stream add ORDERS --subjects orders.> --storage memory --defaults -s {signed.url} --creds {lasting}"
    )
    jwt, key = operator.user(lifetime=2)
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    outcome = offline_cli(f"{line} -s {signed.url} --creds {creds}", status=ExitStatus.DENIED)
    assert outcome.err.splitlines()[-1] == (
        "jsctl: error: the server ended the connection: user authentication expired; use new credentials"
    )
