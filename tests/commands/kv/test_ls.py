"""`kv ls`."""

import csv
import io

from tests.support import js
from tests.support.run import Cli
from tests.support.tables import read_table


def test_ls(config: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    js.bucket(url, "A")
    assert config("kv ls --names", status=0).out == "A\nCONFIG\n"
    assert config("kv ls --json", status=0).json == ["A", "CONFIG"]
    rows = read_table(config("kv ls", status=0).out, "Key-Value Buckets")
    assert [row["Bucket"] for row in rows] == ["A", "CONFIG"]
    assert config("kv ls --as csv", status=0).out.splitlines()[0].startswith("bucket,description,created")


def test_no_buckets_and_no_keys(cli: Cli, url: str) -> None:
    assert "There are no buckets; jsctl kv add" in cli("kv ls", status=0).out
    assert cli("kv ls --json", status=0).json == []
    js.bucket(url, "B")
    empty = cli("kv ls B", terminal_error=True, status=0)
    assert (empty.out, empty.err) == ("", "jsctl: no keys in bucket B\n")
    assert cli("kv ls B --json", status=0).json == []
    assert cli("kv ls B --verbose --json", status=0).json == []
    assert cli("kv export B", status=0).out == ""


def test_keys(config: Cli) -> None:
    assert config("kv ls CONFIG", status=0).out == "logo\nuser.1\n"
    assert config("kv ls CONFIG 'user.*' --json", status=0).json == ["user.1"]
    logo, user = read_table(config("kv ls CONFIG --verbose --display-value", status=0).out)
    assert list(logo) == ["Key", "Created", "Revision", "Size", "Value"] and logo["Value"] == "00 ff 0a"
    assert (user["Size"], user["Value"]) == ("3 B", "Bob")
    rows = config("kv ls CONFIG -v --json", status=0).json
    assert [(row["key"], row["revision"], row["size"]) for row in rows] == [("logo", 5, 3), ("user.1", 2, 3)]
    assert "value" not in rows[0]
    assert "was deleted" in config("kv ls CONFIG user.2", status=3).err


def test_binary_values_are_told_from_text(config: Cli, url: str) -> None:
    """The text AP8K is the base64 of the bytes of logo."""
    js.publish(url, "$KV.CONFIG.text", b"AP8K")

    def values(line: str) -> dict[str, tuple[str, str]]:
        rows = list(csv.DictReader(io.StringIO(config(f"{line} --as csv", status=0).out)))
        return {row["key"]: (row["value"], row["value_base64"]) for row in rows}

    both = {"logo": ("", "AP8K"), "text": ("AP8K", "")}
    listed = values("kv ls CONFIG --verbose --display-value")
    assert {key: listed[key] for key in both} == both and listed["user.1"] == ("Bob", "")
    assert values("kv history CONFIG logo") == {"logo": both["logo"]}
    rows = config("kv ls CONFIG logo text -v --display-value --json", status=0).json
    assert {row["key"]: row.get("value_base64") for row in rows} == {"logo": "AP8K", "text": None}
    js.bucket(url, "OTHER")
    for name, (text, coded) in both.items():
        (row,) = csv.DictReader(io.StringIO(config(f"kv diff CONFIG OTHER {name} --as csv").out))
        assert (row["before"], row["before_base64"], row["after"]) == (text, coded, "")
