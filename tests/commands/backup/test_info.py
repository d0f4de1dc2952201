"""`backup info`."""

from pathlib import Path

from tests.support.archives import write_backup
from tests.support.run import Cli


def test_a_page_and_its_document(offline_cli: Cli, tmp_path: Path) -> None:
    backup = write_backup(tmp_path / "b")
    page = offline_cli(f"backup info {backup}", status=0).out
    assert page.startswith(f"Information for backup of Stream ORDERS in {backup}")
    for line in (
        "Count: 1",
        "Names: C1",
        "Messages: 5",
        "First Sequence: 1 @ 1970-01-01",
        "Last Sequence: 7",
    ):
        assert line in page
    assert "Edit" not in page and "advisory" not in page
    outcome = offline_cli(f"backup info {backup} --json", status=0)
    assert outcome.err == ""
    document = outcome.json
    assert list(document) == [
        *("config", "declared", "declared_counts_advisory", "consumers", "messages", "num_subjects"),
        *("bytes", "first_seq", "last_seq", "first_time", "last_time"),
    ]
    assert document["consumers"] == ["C1"] and document["num_subjects"] == 3
    assert document["declared"]["first_ts"] is None
    assert (document["first_time"], document["last_time"]) == ("1970-01-01T00:00:01Z", "1970-01-01T00:00:06Z")


def test_subjects(offline_cli: Cli, tmp_path: Path) -> None:
    backup = write_backup(tmp_path / "b")
    document = offline_cli(f"backup info {backup} --subjects --json", status=0).json
    assert document["subjects"] == {"ORDERS.new": 2, "ORDERS.new.eu": 1, "ORDERS.paid": 2}
    assert "3 Subjects in backup" in offline_cli(f"backup info {backup} --subjects", status=0).out


def test_an_edited_backup(offline_cli: Cli, tmp_path: Path) -> None:
    backup = write_backup(tmp_path / "b")
    offline_cli(f"backup edit {backup} {tmp_path}/e", status=0)
    page = offline_cli(f"backup info {tmp_path}/e", status=0).out
    assert "Options: none" in page and "Source Digest: sha256:" in page and "are advisory" in page
    edit = offline_cli(f"backup info {tmp_path}/e --json", status=0).json["edit"]
    assert edit["options"] == [] and edit["version"].startswith("jsctl ")
