"""`export stream --partition-by`: folders for dates, tokens and fields, in which no row is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from jsctl.spark.export import engines
from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli

pytestmark = pytest.mark.spark

NONE = "__HIVE_DEFAULT_PARTITION__"
TOKENS = [NONE, f"_{NONE}", "a", "A", "b=c", "%5F", "ä", NONE.lower()]
FIELDS = ["", NONE, f"_{NONE}", "a/b", "..", " ", "%2F", "007", None, "é" * 100]


def query(cli: Cli, folder: Path, sql: str) -> Any:
    return cli(["export", "query", "--from", str(folder), sql, "--json"], status=0).json


@pytest.fixture(params=sample(["tasks", "spark", "csv"], 2))
def writer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who writes the table: the tasks that read, or Spark, in Parquet or another format."""
    if request.param == "spark":
        monkeypatch.setattr(engines, "has_parquet_settings", lambda _: True)
    return "csv" if request.param == "csv" else "parquet"


def test_tokens_that_are_called_like_the_folder_for_none(
    cli: Cli, url: str, spark: Any, tmp_path: Path, writer: str
) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    subjects = [f"S.{token}" for token in TOKENS] + ["S.x.y"]
    js.publish_all(url, [(subject, b"x") for subject in subjects for _ in range(2)] + [("S.one", b"x")])
    line = f"export stream S --to {tmp_path}/out --partition-by subject:3 --partition-by subject:2"
    done = cli(f"{line} --format {writer} --verify --json", status=0).json
    assert done["exported"] == 2 * len(subjects) + 1 and done["streams"][0]["verified"]["same"]
    rows = query(cli, tmp_path / "out", "SELECT * FROM S ORDER BY sequence")
    assert [row["subject"] for row in rows] == [s for s in subjects for _ in range(2)] + ["S.one"]
    folders = {row["subject"]: row["subject_2"] for row in rows}
    assert folders[f"S.{NONE}"] == f"_{NONE}" and folders[f"S._{NONE}"] == f"__{NONE}"
    assert all(folders[f"S.{token}"] == token for token in TOKENS[2:])


def test_fields_of_payloads(cli: Cli, url: str, spark: Any, tmp_path: Path, writer: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    values = [{"to": {"city": value}, "n": n, "ok": n % 2 == 0} for n, value in enumerate(FIELDS)]
    payloads = [*(json.dumps(value).encode() for value in values), b"bad"]
    js.publish_all(url, [("S.a", payload) for payload in payloads])
    line = (
        f"export stream S --to {tmp_path}/out --decode json --format {writer} --incremental --json --verify"
    )
    fields = "--partition-by field:to.city --partition-by field:ok --partition-by field:n"
    done = cli(f"{line} {fields}", status=0).json
    assert (done["exported"], done["bad"], done["streams"][0]["verified"]["same"]) == (len(payloads), 1, True)
    assert (tmp_path / "out" / "S" / "field_to_city=a%2Fb" / "field_ok=false" / "field_n=3").is_dir()
    rows = query(cli, tmp_path / "out", "SELECT * FROM S ORDER BY sequence")
    assert [row["n"] for row in rows] == [*range(len(FIELDS)), None]
    expected = [None, f"_{NONE}", f"__{NONE}", *FIELDS[3:], None]
    assert [row["field_to_city"] for row in rows] == expected
    assert [row["field_ok"] for row in rows[:2]] == ["true", "false"]
    js.publish(url, "S.a", b'{"to": {"city": "new"}, "more": 1}')
    assert cli(f"{line} {fields}", status=0).json["exported"] == 1
    assert "was exported with other --partition-by" in cli(line, status=64).err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            "--partition-by field:id",
            "--partition-by field:NAME is for payloads with fields; add --decode json",
        ),
        ("--decode json --schema 'id INT' --partition-by field:no", "no payload has this field; use id"),
        ("--decode json --partition-by field:no.way", "no payload has this field; use id, price, to"),
        ("--decode json --partition-by field:price", "its type is double; use a field that is text, a whole"),
        ("--decode json --partition-by field:to", "its type is struct<city:string>; use"),
        ("--decode json --partition-by field:", "is not date, hour, subject:N or field:NAME"),
        (
            "--decode json --partition-by field:a.b --partition-by field:a_b",
            "two fields that would be field_a_b",
        ),
    ],
)
def test_fields_that_cannot_be(
    cli: Cli, url: str, spark: Any, tmp_path: Path, flags: str, words: str
) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.publish(url, "S.a", b'{"id": 1, "price": 0.5, "to": {"city": "X"}}')
    failed = cli(f"export stream S --to {tmp_path}/out {flags}", status=64)
    assert words in failed.err and failed.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
