"""`server stop`: without a name it offers the servers that run."""

from pathlib import Path

from tests.support.run import Cli


def test_servers_to_pick_from(offline_cli: Cli, tmp_path: Path) -> None:
    assert "specify CONTEXT or DIR" in offline_cli("server stop", status=64).err
    assert "no server that jsctl started runs" in offline_cli("server stop", answers=[], status=3).err
    folder = tmp_path / "data"
    offline_cli(f"server run --port 0 --background --name mine --store {folder}", status=0)
    try:
        stopped = offline_cli("server stop", answers=[f"mine, in {folder}"], terminal_error=True, status=0)
        assert stopped.asked == ["Select the servers to stop"]
        assert stopped.err == f"stopped the servers in {folder}\n"
    finally:
        offline_cli(f"server stop {folder}")


def test_the_name_of_a_network(offline_cli: Cli, tmp_path: Path) -> None:
    """None of the contexts of a topology has the name that `server network ls` shows."""
    offline_cli.environ["XDG_DATA_HOME"] = str(tmp_path / "data")
    offline_cli("server run hub-leaf --port 0 --background --name pair", status=0)
    try:
        assert offline_cli("server network ls --json", status=0).json[0]["network"] == "pair"
        stopped = offline_cli("server stop pair", terminal_error=True, status=0)
        assert stopped.err == f"stopped the servers in {tmp_path}/data/jsctl/pair\n"
    finally:
        offline_cli(f"server stop {tmp_path}/data/jsctl/pair")


def test_folders_of_account_backups_are_asked_for(cli: Cli, tmp_path: Path) -> None:
    cli("stream add S --subjects s --defaults", status=0)
    cli("account backup", answers=[f"{tmp_path}/all"], status=0)
    cli("stream rm S -f", status=0)
    assert cli("account restore", answers=[f"{tmp_path}/all"], status=0).asked == ["Folder of the backup"]
    assert cli("stream ls --names", status=0).out == "S\n"
    assert "specify TARGET" in cli("account backup", status=64).err
