"""`kv diff`."""

from tests.support import js
from tests.support.run import Cli
from tests.support.tables import read_table


def test_diff(config: Cli, url: str) -> None:
    js.bucket(url, "OTHER")
    for key, value in (("user.1", "Bob"), ("logo", "text"), ("new", "1")):
        config(f"kv put OTHER {key} {value}", status=0)
    shown = config("kv diff CONFIG OTHER", status=2).out
    changes = {row["Key"]: row["Change"] for row in read_table(shown)}
    assert changes == {"logo": "changed", "new": "added"}
    assert shown.splitlines()[-1] == "1 added, 0 removed, 1 changed, 1 the same"
    document = config("kv diff OTHER CONFIG --json", status=2).json
    assert document["same"] == 1
    assert [(one["key"], one["change"]) for one in document["differences"]] == [
        ("logo", "changed"),
        ("new", "removed"),
    ]
    assert config("kv diff CONFIG OTHER 'user.*'", status=0).out.startswith("CONFIG and OTHER hold the same")
    config("kv diff CONFIG NOPE", status=3)


def test_a_missing_bucket_is_named_with_its_domain(hub_cli: Cli) -> None:
    hub_cli("kv add CONFIG", status=0)
    assert "bucket CONFIG not found in domain leaf" in hub_cli("kv diff CONFIG CONFIG@leaf", status=3).err
