"""`object sync`."""

import json
import os
from pathlib import Path

import pytest

from jsctl.jetstream.object import sync as plans
from jsctl.jetstream.object.model import ObjectInfo
from tests.support.objects import DATA, put, store_info
from tests.support.run import Cli


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
    outcome = cli("object sync FILES copy --down", status=1)
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


ODD = [
    "line\nend",
    "ta\tb",
    "back\\slash",
    "esc\x1b[2J",
    "a//b",
    "../out",
    "/abs",
    ".",
    "x" * 300,
    "rlo\u202egpj",
]


def list_objects(cli: Cli) -> list[str]:
    return [one["name"] for one in cli("object ls FILES --json", status=0).json]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_round_trip_removes_nothing_that_the_folder_cannot_hold(files: Path, cli: Cli, url: str) -> None:
    for name in ODD:
        put(cli, name, b"odd")
    plain = [
        "plain",
        "sub/deep/file",
        "with blank",
        "-dash",
        "\u202f10 AM",
        "\u06a9\u200c\u06c1",
        "\U0001f468\u200d\U0001f469",
    ]
    for name in plain:
        put(cli, name, name.encode())
    cli("object link FILES latest FILES plain", status=0)
    store_info(url, "broken", size="x")
    (files / "elsewhere").mkdir()
    (files / "copy").mkdir()
    (files / "copy" / "through").symlink_to(files / "elsewhere")
    (files / "copy" / "inside").symlink_to("plain")
    for name in ("through/file", "inside"):
        put(cli, name, b"linked")
    everything = list_objects(cli)
    down = cli("object sync FILES copy --down --json", status=1)
    refused = {*ODD, "latest", "broken", "through/file", "inside"}
    assert {one["name"] for one in down.json["left_out"]} == refused
    assert down.err.count("is left out: ") == len(refused) == len(down.err.splitlines())
    (files / "copy" / "inside").unlink()
    (files / "copy" / "inside").symlink_to("nowhere")
    assert contents(files / "copy") == {name: name.encode() for name in plain}
    assert contents(files / "elsewhere") == {}
    planned = cli("object sync FILES copy --up --delete --dry-run --json", status=0)
    assert (planned.json["changes"], {one["name"] for one in planned.json["kept"]}) == ([], refused)
    (files / "copy" / "plain").unlink()
    up = cli("object sync FILES copy --up --delete --force", status=0)
    assert up.err.count(" is kept: ") == len(refused)
    assert "; 14 kept" in up.out
    assert list_objects(cli) == [name for name in everything if name != "plain"]


def test_modes_and_links_to_files(files: Path, cli: Cli) -> None:
    """Modes are not stored: new files have what the umask allows, replaced ones keep theirs."""
    site = files / "site"
    site.mkdir()
    (site / "run").write_text("1")
    (site / "run").chmod(0o755)
    (site / "fixed").write_text("1")
    (site / "fixed").chmod(0o444)
    (site / "same").symlink_to("run")
    cli("object sync FILES site --up", status=0)
    assert list_objects(cli) == ["fixed", "run", "same"]
    cli("object sync FILES site --down", status=0)
    assert (site / "same").is_symlink()
    put(cli, "run", b"2", "--force")
    put(cli, "fixed", b"2", "--force")
    # What the link leads to is replaced, and "same" is not, as it is the same file.
    changed = cli("object sync FILES site --down --force --json", status=0)
    assert [one["name"] for one in changed.json["changes"]] == ["fixed", "run"]
    assert (site / "run").stat().st_mode & 0o777 == 0o755
    assert (site / "fixed").stat().st_mode & 0o777 == 0o444
    again = cli("object sync FILES site --down --json", status=1)
    assert [one["name"] for one in again.json["left_out"]] == ["same"]
    assert (site / "run").read_text() == "2"


def test_a_file_beside_a_folder_of_its_name(files: Path, cli: Cli) -> None:
    for name in ("a", "a/b", "a/b/c", "z"):
        put(cli, name, name.encode())
    for flags in ("--dry-run ", ""):
        outcome = cli(f"object sync FILES copy --down {flags}--json", status=1)
        assert {one["name"]: one["reason"] for one in outcome.json["left_out"]} == {
            "a": "a/b needs a folder of that name",
            "a/b": "a/b/c needs a folder of that name",
        }
        assert [one["name"] for one in outcome.json["changes"]] == ["a/b/c", "z"]
    assert contents(files / "copy") == {"a/b/c": b"a/b/c", "z": b"z"}
    cli("object sync FILES copy --up --delete --force", status=0)
    assert list_objects(cli) == ["a", "a/b", "a/b/c", "z"]
    (files / "other").mkdir()
    (files / "other" / "a").write_text("mine")
    shown = cli("object sync FILES other --down --dry-run", status=1)
    assert "FILES > a/b is left out: a is not a folder there" in shown.err
    cli("object rm FILES a a/b --force", status=0)
    cli("object sync FILES other --down --delete --force", status=0)
    assert contents(files / "other") == {"a/b/c": b"a/b/c", "z": b"z"}


def test_names_that_do_not_come_back(files: Path, cli: Cli) -> None:
    site = files / "site"
    site.mkdir()
    for name in (b"line\nend", b"latin-\xe9", b"plain"):
        Path(os.fsdecode(os.fsencode(site) + b"/" + name)).write_bytes(name)
    put(cli, "plain/below", b"x")
    up = cli("object sync FILES site --up", status=1)
    assert up.err.splitlines() == [
        "warning: site/latin-\\xe9 is left out: the object's name is not valid UTF-8",
        "warning: FILES > line\\nend will not be written back by --down: "
        "its name has characters that file names should not have",
        "warning: FILES > plain will not be written back by --down: plain/below needs a folder of that name",
    ]
    assert list_objects(cli) == ["line\nend", "plain", "plain/below"]
    document = cli("object sync FILES site --up --json", status=1).out
    assert [one["name"] for one in json.loads(document)["one_way"]] == ["line\nend", "plain"]
    down = cli("object sync FILES site --down --delete --force", status=1)
    assert "latin-\\xe9 is kept" in down.err
    assert os.fsencode(site) + b"/latin-\xe9" in [os.fsencode(path) for path in site.iterdir()]


def test_one_object_that_cannot_be_written_does_not_keep_from_the_rest(
    files: Path, cli: Cli, url: str
) -> None:
    put(cli, "whole", b"x")
    store_info(url, "holes", size=9, chunks=1, digest="SHA-256=x")
    down = cli("object sync FILES copy --down", status=1)
    assert "holes is left out: " in down.err and contents(files / "copy") == {"whole": b"x"}


def test_a_folder_that_ignores_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs by case alone is one file there; the plan for such a folder, on any."""
    monkeypatch.setattr(plans, "_ignores_case", lambda folder: True)
    objects = {
        name: ObjectInfo("B", name, "N", 1, 1, "", "")
        for name in ("README", "readme", "Dir/x", "dir", "caf\xe9", "cafe\u0301")
    }
    plan = plans.plan_download(tmp_path, {}, objects, remove=True)
    assert plan.left_out == {
        "caf\xe9": "there it is the same file as cafe\u0301",
        "dir": "Dir/x needs a folder of that name",
        "readme": "there it is the same file as README",
    }
    (tmp_path / "readme").write_text("1")
    files, _ = plans.list_files(tmp_path)
    plan = plans.plan_download(tmp_path, files, {"README": objects["README"]}, remove=True)
    assert [change.kind for change in plan.changes] == ["add"]  # the removal would be of the same file
    assert plan.preserved == {"readme": "there it is the same file as README"}
    plan = plans.plan_upload(tmp_path, files, {"README": objects["README"]}, remove=True)
    assert (plan.preserved, list(plan.one_way)) == ({"README": "there it is the same file as readme"}, [])
