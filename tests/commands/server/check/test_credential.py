"""`server check credential`."""

from pathlib import Path

from tests.support.checks import check
from tests.support.run import Cli


def test_a_credential(cli: Cli, tmp_path: Path) -> None:
    from jsctl.auth.jwt import encode_jwt
    from jsctl.auth.keys import USER, create_key
    from jsctl.auth.store import format_creds

    key = create_key(USER)
    path = tmp_path / "u.creds"
    for expires, line, status in (
        ({}, "", 2),
        ({}, "--no-require-expiry", 0),
        ({"exp": 4_000_000_000}, "--validity-critical 1d", 0),
        ({"exp": 4_000_000_000}, "--validity-warn 87600h --validity-critical 1d", 0),
        ({"exp": 1_000_000_000}, "", 2),
    ):
        token = encode_jwt(
            {"sub": key.public, "name": "u", "nats": {"type": "user", "version": 2}, **expires}, key
        )
        path.write_text(format_creds(token, key.seed))
        check(cli, f"credential --credential {path} {line}", status)
    outcome = check(cli, f"credential --credential {path} --validity-warn 1d", 2)
    (expiry,) = outcome["perf_data"]
    assert expiry["value"] < 0 and expiry["warning"] == 86400 and len(outcome["critical"]) == 1
    path.write_text("nothing")
    assert "is not a credentials file" in str(check(cli, f"credential --credential {path}", 2)["critical"])
