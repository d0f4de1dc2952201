"""`jsctl apply` and `diff` of key-value and object buckets."""

from pathlib import Path

import pytest

from tests.support.declared import BUCKETS, Files, Meanwhile


def test_buckets(files: Files) -> None:
    cli = files.cli
    planned = files("diff", BUCKETS, status=2).out
    assert "+ bucket CONFIG" in planned
    assert "    history: 5" in planned
    assert "5 to create" in planned
    assert "1 stream and 4 buckets done" in files("apply", BUCKETS, status=0).out
    assert "1 stream and 4 buckets are as declared" in files("diff", BUCKETS, status=0).out
    document = cli("kv info CONFIG --json", status=0).json
    assert document["config"]["history"] == 5
    assert document["stream"]["config"]["allow_rollup_hdrs"]
    cli("kv put MIRROR_1 a b", status=0)
    assert cli("kv get CONFIG a --raw", status=0).out == "b"
    cli("kv edit CONFIG --history 7 --max-bucket-size 1MB --force", status=0)
    changed = files("diff", BUCKETS.replace("30d", "20d"), status=2).out
    assert "~ bucket CONFIG" in changed
    assert "    history: 7 -> 5" in changed
    assert "    ttl: 30d0h0m0s -> 20d0h0m0s" in changed
    assert "max_bucket_size" not in changed, "what the file does not name stays"
    files("apply", BUCKETS.replace("30d", "20d"), "--force", status=0)
    config = cli("kv info CONFIG --json", status=0).json["config"]
    assert (config["history"], config["max_bucket_size"]) == (5, 1 << 20)


OBJECT_BUCKETS = """
label: files
object_buckets:
  - {name: FILES, ttl: 30d, max_bucket_size: 10MB, description: reports}
  - for: {i: 1..2}
    name: SITE_{{i}}
    compress: true
"""


def test_object_buckets(files: Files, tmp_path: Path) -> None:
    cli = files.cli
    planned = files("diff", OBJECT_BUCKETS, status=2).out
    assert "+ object bucket FILES" in planned and "    ttl: 30d" in planned and "3 to create" in planned
    files("apply", OBJECT_BUCKETS, status=0)
    assert "as declared" in files("diff", OBJECT_BUCKETS, status=0).out
    (tmp_path / "report").write_text("1,2,3")
    cli(f"object put FILES {tmp_path}/report --name report", status=0)
    assert cli("object get FILES report -O -", status=0).out == "1,2,3"
    cli("object edit FILES --ttl 5d --replicas 1 --force", status=0)
    changed = files("diff", OBJECT_BUCKETS.replace("10MB", "20MB"), status=2).out
    assert "~ object bucket FILES" in changed and "ttl: 5d0h0m0s -> 30d0h0m0s" in changed
    assert "max_bucket_size" in changed and "description" not in changed
    files("apply", OBJECT_BUCKETS.replace("10MB", "20MB"), "--force", status=0)
    assert cli("object get FILES report -O -", status=0).out == "1,2,3"
    written = cli("export config --all", status=0).out
    assert "object_buckets:\n- name: FILES\n" in written
    assert "as declared" in files("diff", written, status=0).out
    less = "label: files\nobject_buckets: [{name: FILES, storage: memory}]\n"
    planned = files("diff", less, "--prune", status=1).out
    assert "- object bucket SITE_2" in planned and "file -> memory  (stream configuration" in planned
    files("apply", less.replace(", storage: memory", ""), "--prune --force", status=0)
    assert cli("object ls --names", status=0).out == "FILES\n"
    refused = files("diff", "object_buckets: [{name: a.b}]", status=64).err
    assert "'a.b'" in refused
    assert (
        "unknown key 'history' of an object bucket"
        in files("diff", "object_buckets: [{name: A, history: 3}]", status=64).err
    )


def test_buckets_that_no_file_declares_any_more(files: Files) -> None:
    files("apply", BUCKETS, status=0)
    less = "label: config\nbuckets: [{name: CONFIG, storage: memory}]\n"
    planned = files("diff", less, "--prune", status=1).out
    assert "- bucket MIRROR_2" in planned
    assert (
        "storage: file -> memory  (stream configuration update can not change storage type (10052))"
        in planned
    )
    files("apply", less.replace(", storage: memory", ""), "--prune --force", status=0)
    assert files.cli("kv ls --json", status=0).json == ["CONFIG"]


@pytest.mark.parametrize(
    ("bucket", "words"),
    [
        ("{name: a.b}", "'a.b' is not a valid bucket name"),
        ("{name: B, histroy: 5}", "did you mean 'history'"),
        ("{name: B, max_age: 1h}", "unknown key 'max_age' of a bucket"),
        ("{name: B, mirror: A, sources: [C]}", "not both"),
        ("{history: 5}", "this bucket has no name"),
    ],
)
def test_buckets_that_cannot_be(files: Files, bucket: str, words: str) -> None:
    refused = files("diff", f"buckets:\n  - {bucket}\n", status=64)
    assert words in refused.err
    assert ":2" in refused.err


def test_declared_values(files: Files) -> None:
    (files.path.parent / "more.yaml").write_text("b: from file\nc: 1.10\n")
    text = "buckets: [{name: V, history: 5, values_from: more.yaml, values: {a: one, x.y: two}}]"
    shown = files("diff", text, status=2).out
    assert "~ values of bucket V" in shown and "    values.c: (not set) -> (hidden)" in shown
    assert "    values.a: (not set) -> one" in shown
    assert "    values.c: (not set) -> 1.10" in files("diff", text, "--show-values", status=2).out
    files("apply", text, status=0)
    for key, value in {"a": "one", "b": "from file", "c": "1.10", "x.y": "two"}.items():
        assert files.cli(f"kv get V {key} --raw", status=0).out == value
    assert "Nothing to change" in files("apply", text, status=0).out
    files.cli("kv put V a changed", status=0)
    files.cli("kv put V other stays", status=0)
    assert "    values.a: changed -> one" in files("diff", text, status=2).out
    files("apply", text, status=0)
    assert files.cli("kv get V a --raw", status=0).out == "one"
    assert files.cli("kv get V other --raw", status=0).out == "stays"
    for wrong in ("values: {'a b': x}", "values: [a]", "values: {a: {b: c}}", "values_from: nowhere.yaml"):
        assert files("diff", f"buckets: [{{name: V, {wrong}}}]", status=64).err
    assert (
        "unknown key 'values'" in files("diff", "object_buckets: [{name: F, values: {a: b}}]", status=64).err
    )


def test_a_value_that_changes_meanwhile_is_not_overwritten(files: Files) -> None:
    text = "buckets: [{name: V, values: {a: one}}]"
    files("apply", "buckets: [{name: V}]", status=0)
    files.cli("kv put V a first", status=0)
    answer = Meanwhile(lambda: files.cli("kv put V a second", status=0))
    refused = files("apply", text, answers=[answer], status=1)
    assert "values.a: second -> one" in refused.err
    assert files.cli("kv get V a --raw", status=0).out == "second"
