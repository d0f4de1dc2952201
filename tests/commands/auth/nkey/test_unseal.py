"""`auth nkey unseal`."""

from pathlib import Path

from tests.support.run import Cli


def test_seal_and_unseal(offline_cli: Cli, tmp_path: Path) -> None:
    data, mine, yours, sealed, out = (tmp_path / name for name in ("data", "mine", "yours", "sealed", "out"))
    data.write_bytes(bytes(range(256)))
    for key in (mine, yours):
        offline_cli(f"auth nkey gen x25519 --output {key}", status=0)
    me, you = (offline_cli(f"auth nkey show {key}", status=0).out.strip() for key in (mine, yours))
    for b64 in ("", "--no-b64"):
        offline_cli(f"auth nkey seal {data} {mine} {you} --output {sealed} {b64}", status=0)
        offline_cli(f"auth nkey unseal {sealed} {yours} {me} --output {out} {b64}", status=0)
        assert out.read_bytes() == data.read_bytes()
    assert (
        "cannot be decrypted" in offline_cli(f"auth nkey unseal {sealed} {mine} {me} --no-b64", status=64).err
    )
    assert "--no-b64" in offline_cli(f"auth nkey unseal {sealed} {mine} {me}", status=64).err
    assert "curve" in offline_cli(f"auth nkey seal {data} {mine} {'U' * 56}", status=64).err
    data.write_text("for you")
    sealed.write_text(offline_cli(f"auth nkey encrypt {data} {mine} {you}", status=0).out)
    assert offline_cli(f"auth nkey open {sealed} {yours} {me}", status=0).out == "for you\n"
