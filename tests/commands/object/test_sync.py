"""`object sync`."""

import os
from pathlib import Path

import pytest

from tests.support.objects import DATA, put
from tests.support.run import Cli

pytestmark = pytest.mark.slow


def test_sync(files: Path, cli: Cli) -> None:
    site = files / "site"
    (site / "sub").mkdir(parents=True)
    (site / "index").write_text("1")
    (site / "sub/page").write_bytes(DATA)
    (site / ".jsctl-get-left").write_text("")
    assert "--up" in cli("object sync FILES site", status=64).err
    planned = cli("object sync FILES site --up --dry-run --json", status=0).json
    assert [change["name"] for change in planned["changes"]] == ["index", "sub/page"]
    assert cli("object ls FILES --json", status=0).json == []
    cli("object sync FILES site --up", status=0)
    again = cli("object sync FILES site --up --json", status=0).json
    assert (again["changes"], again["same"]) == ([], 2)
    cli("object sync FILES copy --down", status=0)
    assert (files / "copy/sub/page").read_bytes() == DATA
    (site / "index").write_text("2")
    (site / "sub/page").unlink()
    assert "Really replace 1 file and remove 1" in cli("object sync FILES site --up --delete", status=64).err
    cli("object sync FILES site --up --delete --force", status=0)
    cli("object sync FILES copy --down --delete --force", status=0)
    assert sorted(p.name for p in (files / "copy").rglob("*") if p.is_file()) == ["index"]
    assert (files / "copy/index").read_text() == "2"


def test_a_link_in_the_folder_does_not_lead_out(files: Path, cli: Cli) -> None:
    put(cli, "out/file")
    (files / "copy").mkdir()
    (files / "copy/out").symlink_to(files.parent)
    outcome = cli("object sync FILES copy --down", status=0)
    assert "leads out of the folder" in outcome.err
    assert not (files.parent / "file").exists()


def test_what_is_not_a_file_is_left_out_with_a_warning(files: Path, cli: Cli) -> None:
    cli("object add FILES", status=0)
    folder = files / "odd"
    (folder / "below").mkdir(parents=True)
    (folder / "file").write_text("x")
    (folder / "gone").symlink_to("nowhere")
    (folder / "below" / "up").symlink_to(folder)
    (folder / "linked").symlink_to("file")
    os.mkfifo(folder / "pipe")
    shown = cli(f"object sync FILES {folder} --up", status=0)
    assert shown.err.splitlines() == [
        f"warning: {folder}/gone is left out: a link to nowhere, which does not exist",
        f"warning: {folder}/pipe is left out: not a regular file",
        f"warning: {folder}/below/up is left out: a link to the folder {folder}",
    ]
    assert [one["name"] for one in cli("object ls FILES --json", status=0).json] == ["file", "linked"]
