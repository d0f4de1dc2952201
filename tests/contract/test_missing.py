"""What the command line leaves out is asked for on a terminal: a list, or a path; ? explains, and there is a
way back."""

import os
import re
from pathlib import Path

import pytest

from jsctl.prompts.prompter import GoBack
from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli


@pytest.fixture
def backups(cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with backups of a stream and of the account, which is the current one."""
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)
    monkeypatch.chdir(tmp_path)
    cli("backup stream ORDERS saved", status=0)
    cli("backup stream ORDERS old.tgz", status=0)
    cli("backup account whole", status=0)
    (tmp_path / "notes").mkdir()
    return tmp_path


def test_restore_lists_the_backups_of_the_folder(cli: Cli, backups: Path) -> None:
    cli("stream rm ORDERS --force", status=0)
    restored = cli("stream restore", answers=["saved"], status=0)
    assert restored.asked == ["Backup to restore"]
    assert cli("stream info ORDERS --json", status=0).json["state"]["messages"] == 3
    again = cli("backup restore stream --name OTHER --subjects other", answers=["notes"])
    assert again.status != 0 and "'notes' is not one of the choices" in again.err
    cli("backup restore stream --name OTHER --subjects 'other.>'", answers=["whole/ORDERS"], status=0)
    cli("backup restore stream --name PACKED --subjects 'packed.>'", answers=["old.tgz"], status=0)


def test_restore_asks_for_another_path(cli: Cli, backups: Path) -> None:
    elsewhere = str(backups / "saved")
    cli("stream rm ORDERS --force", status=0)
    answers = ["another path ...", elsewhere]
    restored = cli("stream restore", answers=answers, status=0)
    assert restored.asked == ["Backup to restore", "Backup to restore"]
    asked = cli("stream restore", answers=["another path ...", "nothing/here"], status=64)
    assert "there is no such file or folder" in asked.err


def test_account_restore_lists_the_folders(cli: Cli, backups: Path) -> None:
    cli("stream rm ORDERS --force", status=0)
    assert cli("account restore", answers=["whole"], status=0).asked == ["Folder of the backup"]
    os.chdir(backups / "notes")
    assert "no such file" in cli("account restore", answers=["here"], status=64).err


def test_all_that_is_missing_is_asked_with_a_way_back(cli: Cli, url: str) -> None:
    cli("kv add ONE", status=0)
    cli("kv add TWO", status=0)
    cli("kv put ONE color red", status=0)
    cli("kv put TWO size 12", status=0)
    shown = cli("kv get", answers=["ONE", GoBack, "TWO", "size"], status=0)
    assert shown.asked == ["Select a Bucket", "Select a Key", "Select a Bucket", "Select a Key"]
    assert "12" in shown.out
    assert cli("kv get ONE", answers=["color"], status=0).asked == ["Select a Key"]


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("kv history", "Select a Bucket"),
        ("object info", "Select a Bucket"),
        ("schema validate", "Select a Schema"),
        ("import", "Files to import"),
        ("reply", "Subject"),
        ("service serve", "Name of the service"),
        ("errors lookup", "Code"),
    ],
)
def test_each_asks_for_what_it_lacks(cli: Cli, url: str, line: str, asked: str) -> None:
    cli("kv add ONE", status=0)
    cli("object add FILES", status=0)
    outcome = cli(line, answers=[])
    assert outcome.asked[:1] == [asked] and "Traceback" not in outcome.err


def test_a_missing_name_is_an_error_in_a_pipe(cli: Cli) -> None:
    outcome = cli("stream restore", status=64)
    assert "Missing argument '[STREAM] FILE'" in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.slow
def test_a_path_is_asked_for_and_completed(cli: Cli, backups: Path) -> None:
    cli("stream rm ORDERS --force", status=0)
    watched = Watched(cli.terminal("stream restore"))
    watched.until("Backup to restore")
    watched.press("?")
    watched.until("Restore a stream from its backup")
    watched.until("On the command line")
    watched.press("\x1b[A\r")  # the last entry
    watched.until(lambda text: text.count("Backup to restore") == 2)
    watched.press("s\t")  # before there is a menu
    watched.until(lambda text: re.search("Backup to restore.* saved", text))
    watched.press("\r")  # closes the menu
    watched.press("\r")
    watched.until("Messages: 3")  # of the info page
    assert watched.end() == 0
