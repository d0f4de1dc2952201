"""`auth nkey verify`."""

from pathlib import Path

from tests.support.run import Cli


def test_sign_and_verify(offline_cli: Cli, tmp_path: Path) -> None:
    data, key, signature, public = (tmp_path / name for name in ("data", "key", "sig", "pub"))
    data.write_bytes(b"\0\1\2")
    offline_cli(f"auth nkey gen user --output {key}", status=0)
    signature.write_text(offline_cli(f"auth nkey sign {data} {key}", status=0).out)
    public.write_text(offline_cli(f"auth nkey show {key}", status=0).out)
    for one in (key, public):
        assert "Verified OK" in offline_cli(f"auth nkey verify {data} {signature} {one}", status=0).out
    data.write_bytes(b"\0\1\3")
    assert "did not sign" in offline_cli(f"auth nkey verify {data} {signature} {public}", status=1).err
    signature.write_text("!!")
    assert "not a signature" in offline_cli(f"auth nkey verify {data} {signature} {public}", status=64).err
    assert "has only a public key" in offline_cli(f"auth nkey sign {data} {public}", status=64).err
    assert "contains no seed" in offline_cli(f"auth nkey sign {data} {data}", status=64).err
