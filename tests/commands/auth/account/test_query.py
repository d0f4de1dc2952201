"""`auth account query`."""

from pathlib import Path

from jsctl.auth.jwt import decode_jwt
from tests.support.operator_site import Site


def test_query(site: Site, tmp_path: Path) -> None:
    site.cli("auth account add ASKED", status=0)
    assert "no server has account A" in site.cli("auth account query ASKED", status=3).err
    site.cli("auth account push ASKED", status=0)
    stored = site.store.read_account("ASKED")
    assert site.cli("auth account query ASKED --json", status=0).json == {
        **stored.claims,
        "token": stored.token,
    }
    site.cli(f"auth account query {stored.public} {tmp_path}/asked.jwt", status=0)
    assert decode_jwt((tmp_path / "asked.jwt").read_text()) == stored.claims
    assert "there is no account 'NOPE'" in site.cli("auth account query NOPE", status=3).err
