"""`auth nkey show`."""

from pathlib import Path

from tests.support.run import Cli


def test_show(offline_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "key.nk"
    public = offline_cli(f"auth nkey gen user --public --output {file} --json", status=0).json["public"]
    assert offline_cli(f"auth nkey show {file}", status=0).out == f"{public}\n"
    assert offline_cli(f"auth nkey show {file} --json", status=0).json["public"] == public
    assert "cannot read nope" in offline_cli("auth nkey show nope", status=64).err
