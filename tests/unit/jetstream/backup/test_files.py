"""What is at a backup's target, and what a restored stream lacks, without a server."""

from pathlib import Path

import pytest

from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.backup.files import DATA, MANIFEST, META, describe_existing, remove_backup_files
from jsctl.jetstream.backup.snapshot import compare_states
from jsctl.jetstream.backup.stream_restore import explain_differences
from jsctl.jetstream.message.gaps import merge_sequences

STATE = {"messages": 3, "first_seq": 1, "last_seq": 3}


@pytest.mark.parametrize(
    ("names", "existing"),
    [
        ([], ""),
        ([MANIFEST], "a backup that was not finished"),
        ([MANIFEST, ".jsctl-0123456789ab"], "a backup that was not finished"),
        ([DATA, META, MANIFEST], "a backup"),
    ],
)
def test_a_folder_says_what_it_holds(tmp_path: Path, names: list[str], existing: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    assert describe_existing(tmp_path) == existing
    remove_backup_files(tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_files_are_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    for check in (describe_existing, remove_backup_files):
        with pytest.raises(BadInput, match="other files"):
            check(tmp_path)
    with pytest.raises(BadInput, match="not a backup"):
        describe_existing(tmp_path / "notes.txt")


def test_differences_are_explained_by_limits_alone() -> None:
    assert compare_states(STATE, STATE) == []
    differences = compare_states(STATE, {**STATE, "messages": 2, "first_seq": 2})
    assert differences == ["messages: 2 instead of 3", "first sequence: 2 instead of 1"]
    warning = explain_differences("S", {"max_age": 1, "retention": "interest"}, differences)[0]
    assert "its settings (max_age, interest retention) apply" in warning
    with pytest.raises(JsctlError, match="messages: 2 instead of 3"):
        explain_differences("S", {"max_age": 0}, differences)


def test_sequences_are_merged_to_gaps() -> None:
    assert merge_sequences([9, 2, 4, 3, 3]) == [(2, 4), (9, 9)]
    assert merge_sequences([]) == []
