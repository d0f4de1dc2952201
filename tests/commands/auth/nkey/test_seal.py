"""`auth nkey seal`."""

from pathlib import Path

from tests.support.run import Cli


def test_seal(offline_cli: Cli, tmp_path: Path) -> None:
    data, mine, sealed = (tmp_path / name for name in ("data", "mine", "sealed"))
    data.write_bytes(b"for you")
    offline_cli(f"auth nkey gen curve --output {mine}", status=0)
    public = offline_cli(f"auth nkey show {mine}", status=0).out.strip()
    first, second = (offline_cli(f"auth nkey seal {data} {mine} {public}", status=0).out for _ in "12")
    assert first != second, "each time with another nonce"
    sealed.write_text(first)
    assert offline_cli(f"auth nkey unseal {sealed} {mine} {public}", status=0).out == "for you\n"
    assert "curve" in offline_cli(f"auth nkey seal {data} {mine} {'U' * 56}", status=64).err
