import json
from pathlib import Path

import pytest

from tests.support.run import Cli


@pytest.fixture
def stream(cli: Cli) -> Cli:
    """With a stream S on s."""
    republish = "--republish-source s --republish-destination t"
    cli(f"stream add S --subjects s --metadata k=v --max-age 1h {republish}", status=0)
    return cli


def config(cli: Cli) -> dict[str, object]:
    return dict(cli("stream info S --json", status=0).json["config"])


def test_only_what_was_asked_changes(stream: Cli) -> None:
    before = config(stream)
    out = stream("stream edit S --max-msgs 5 --force", status=0).out
    assert out.startswith("Stream S was updated\n\nInformation for Stream S created ")
    assert config(stream) == {**before, "max_msgs": 5}


def test_the_difference_is_shown_before_the_question(stream: Cli) -> None:
    edited = stream(
        "stream edit S --max-age 2h --metadata x=y", answers=[True], terminal_error=True, status=0
    )
    assert edited.asked == ["Really edit Stream S"]
    assert "  max_age: 1h0m0s -> 2h0m0s\n  metadata.x: (not set) -> y\n" in edited.err
    left = stream("stream edit S --max-age 3h", answers=[False], status=0)
    assert left.err.endswith("jsctl: nothing was changed\n") and not left.out
    assert config(stream)["max_age"] == 7_200_000_000_000


@pytest.mark.parametrize("line", ["edit S --force", "edit S --dry-run", "add NEW --defaults", "copy S NEW"])
def test_no_subjects_are_refused(stream: Cli, line: str) -> None:
    """As where a script's variable is not set: the stream would take its own name as its subject."""
    before = config(stream)
    for subjects in ("", " , "):
        refused = stream([*f"stream {line} --subjects".split(), subjects], status=64).err
        assert "--subjects is empty; give a value" in refused
    assert config(stream) == before
    assert stream("stream ls --names", status=0).out == "S\n"


def test_dry_run_changes_nothing(stream: Cli) -> None:
    before = config(stream)
    shown = stream("stream edit S --max-msgs 5 --no-republish --dry-run --json", status=2).json
    assert {one["key"]: (one["before"], one["after"]) for one in shown} == {
        "max_msgs": (-1, 5),
        "republish.src": ("s", None),
        "republish.dest": ("t", None),
    }
    assert config(stream) == before


def test_scripts_see_a_difference_in_the_status(stream: Cli) -> None:
    changes = stream("stream edit S --max-msgs 5 --dry-run", status=2)
    assert "max_msgs" in changes.out
    assert stream("stream edit S --max-msgs=-1 --dry-run", status=0).out == "No difference in configuration\n"


def test_force_shows_the_difference_too(stream: Cli) -> None:
    forced = stream("stream edit S --max-msgs 5 --force", terminal_error=True, status=0)
    assert forced.err.endswith("] Changes to Stream S:\n  max_msgs: -1 -> 5\n\n")


def test_without_a_terminal_the_flag_is_named(stream: Cli) -> None:
    assert "--force" in stream("stream edit S --max-msgs 5", status=64).err


def test_nothing_asked(stream: Cli) -> None:
    assert "nothing to change" in stream("stream edit S", status=64).err


def test_no_phantom_differences(stream: Cli, tmp_path: Path) -> None:
    file = tmp_path / "info.json"
    file.write_text(stream("stream info S --json").out)
    for extra in ("", "--replace"):
        same = stream(f"stream edit S --config {file} {extra}", status=0)
        assert same.out == "No difference in configuration\n"
    assert stream("stream edit S --max-msgs=-1", status=0).out == "No difference in configuration\n"


def test_what_the_server_enables_by_itself_is_not_a_difference(stream: Cli, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    for own in ({"subject_delete_marker_ttl": 6 * 10**9}, {"allow_msg_schedules": True}):
        wanted = {"name": "R", "subjects": ["r"], "allow_msg_ttl": False, "allow_rollup_hdrs": False, **own}
        file.write_text(json.dumps(wanted))
        stream(f"stream add --config {file}", status=0)
        same = stream(f"stream edit R --config {file} --force", status=0)
        assert same.out == "No difference in configuration\n"
        off = stream(
            "stream edit R --subject-del-markers-ttl -1 --no-allow-schedules --dry-run --json", status=2
        )
        assert [one["key"] for one in off.json] == [*own]
        stream("stream rm R -f", status=0)


def test_a_file_is_merged_or_replaces(stream: Cli, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("subjects: [s, u]\n")
    stream(f"stream edit S --config {file} -f", status=0)
    assert config(stream)["max_age"] == 3_600_000_000_000
    file.write_text("subjects: [s]\nstorage: file\n")
    stream(f"stream edit S --config {file} --replace -f", status=0)
    after = config(stream)
    assert (after["max_age"], after["subjects"]) == (0, ["s"]) and "republish" not in after


def test_what_the_server_does_not_change_is_reported(stream: Cli) -> None:
    stream("stream add M --mirror S --defaults", status=0)
    outcome = stream("stream edit M --no-allow-mirror-direct --description x -f", status=0)
    assert (
        outcome.err.splitlines()[-1] + "\n"
        == "warning: the server did not change mirror_direct, which is still true\n"
    )
    assert stream("stream info M --json").json["config"]["description"] == "x"
    again = stream("stream edit M --no-allow-mirror-direct -f", status=0)
    assert again.out == "No difference in configuration\n"
    assert "the server did not change mirror_direct" in again.err


def test_what_a_whole_configuration_leaves_out_takes_its_default(stream: Cli, tmp_path: Path) -> None:
    stream("stream add PLAIN --subjects plain --max-msgs 9 --defaults", status=0)
    file = tmp_path / "plain.json"
    file.write_text('{"subjects": ["plain"]}')
    nothing = {"deletes_messages": 0, "deletes_bytes": 0, "deletes_precision": "exact"}
    changed = [
        {"key": "max_msgs", "before": 9, "after": -1, **nothing},
        {"key": "allow_direct", "before": True, "after": None, **nothing},
    ]
    assert stream(f"stream edit PLAIN --config {file} --replace --dry-run --json", status=2).json == changed
    everything = {"EDITOR": f"cp {file}"}
    assert stream("stream edit PLAIN -i --dry-run --json", environ=everything, status=2).json == changed
    stream(f"stream edit PLAIN --config {file} --replace -f", status=0)
    assert stream("stream info PLAIN --json").json["config"]["allow_direct"] is False


@pytest.mark.parametrize("text", ['{"state": {}, "created": "2026-11-21T06:57:05Z"}', "{}"])
def test_an_info_without_its_configuration_is_refused(stream: Cli, tmp_path: Path, text: str) -> None:
    file = tmp_path / "cut.json"
    file.write_text(text)
    failed = stream(f"stream edit S --config {file} --replace -f", status=64)
    assert failed.err == f"jsctl: error: {file} holds no stream configuration\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"discard": "bogus"}', "wrong.json:1: discard must be one of new, old, not 'bogus'"),
        ('{"max_msgs": "many"}', "wrong.json:1: max_msgs must be a whole number, not 'many'"),
        ('{"sources": [{}], "subjects": "a"}', "wrong.json:1: sources needs name"),
    ],
)
def test_values_of_the_wrong_type(stream: Cli, tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(text)
    assert stream(f"stream edit S --config {file} -f", status=64).err == f"jsctl: error: {tmp_path}/{words}\n"


def test_an_unknown_stream(cli: Cli) -> None:
    failed = cli("stream edit NOPE --max-msgs 5 -f", status=3)
    assert "stream NOPE not found" in failed.err and failed.err.count("\n") == 1


def test_the_server_refuses(stream: Cli) -> None:
    failed = stream("stream edit S --retention workq --no-republish -f", terminal_error=True, status=1)
    assert "\n\njsctl: error: " in failed.err and failed.err.endswith("\n")


def test_in_an_editor(stream: Cli) -> None:
    edit = {"EDITOR": """sed -i 's/"max_msgs": -1/"max_msgs": 8/'"""}
    stream("stream edit S -i -f", environ=edit, status=0)
    assert config(stream)["max_msgs"] == 8
    assert stream("stream edit S -i -f", environ={"EDITOR": "true"}, status=0).out.startswith("No difference")


def test_a_text_that_cannot_be_used_is_kept(stream: Cli) -> None:
    failed = stream("stream edit S -i -f", environ={"EDITOR": """sed -i '$d'"""}, status=64)
    saved = Path(failed.err.rpartition(" in ")[2].strip())
    assert '"name": "S"' in saved.read_text()
    saved.unlink()
    saved.parent.rmdir()


def test_editing_again_after_an_error(stream: Cli, tmp_path: Path) -> None:
    script = tmp_path / "editor"
    script.write_text(f"""#!/bin/sh
if [ -e {tmp_path}/second ]; then sed -i 's/"max_msgs": "x"/"max_msgs": 6/' "$1"
else touch {tmp_path}/second; sed -i 's/"max_msgs": -1/"max_msgs": "x"/' "$1"; fi
""")
    script.chmod(0o755)
    stream("stream edit S -i -f", environ={"EDITOR": str(script)}, answers=[True], status=0)
    assert config(stream)["max_msgs"] == 6


def test_json(stream: Cli) -> None:
    assert json.loads(stream("stream edit S --max-msgs 5 -f --json", status=0).out)["config"]["max_msgs"] == 5


@pytest.mark.parametrize("flags", ["--dry-run", "--replace --dry-run", "-f"])
def test_an_unknown_key_is_refused_before_anything_is_sent(
    offline_cli: Cli, tmp_path: Path, flags: str
) -> None:
    file = tmp_path / "typo.yaml"
    file.write_text("max_mesgs: 5\n")
    failed = offline_cli(f"stream edit S --config {file} {flags}", status=64)
    assert f"{file}:1: unknown key 'max_mesgs' of a stream; did you mean 'max_msgs'?" in failed.err


def test_an_unknown_key_in_an_editor_can_be_corrected(stream: Cli, tmp_path: Path) -> None:
    script = tmp_path / "editor"
    script.write_text(f"""#!/bin/sh
if [ -e {tmp_path}/second ]; then sed -i 's/max_mesgs/max_msgs/' "$1"
else touch {tmp_path}/second; sed -i 's/"max_msgs": -1/"max_mesgs": 7/' "$1"; fi
""")
    script.chmod(0o755)
    edited = stream("stream edit S -i -f", environ={"EDITOR": str(script)}, answers=[True], status=0)
    assert "unknown key 'max_mesgs'" in edited.asked[0]
    assert config(stream)["max_msgs"] == 7


def test_a_text_that_the_server_refuses_is_kept(stream: Cli) -> None:
    """Either in a file that the error names, or in the editor again."""
    wrong = """sed -i 's/"storage": "file"/"storage": "memory"/'"""
    failed = stream("stream edit S -i -f", environ={"EDITOR": wrong}, status=1)
    saved = Path(failed.err.rpartition(" in ")[2].strip())
    assert '"storage": "memory"' in saved.read_text()
    saved.unlink()
    saved.parent.rmdir()
    again = stream("stream edit S -i -f", environ={"EDITOR": wrong}, answers=[False], status=1)
    assert "Edit again?" in again.asked[0]
    Path(again.err.rpartition(" in ")[2].strip()).unlink()
