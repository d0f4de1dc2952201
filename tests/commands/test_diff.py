"""`diff`; the files of `apply` compare what they declare, too."""

from tests.support.declared import Files

ONE = "streams: [{name: S, subjects: [s], max_msgs: 5}]"


def test_diff(files: Files) -> None:
    shown = files("diff", ONE, status=2).out
    assert "S" in shown and "1 to create" in shown
    assert files("diff", ONE, "--json", status=2).json["changes"][0]["action"] == "create"
    assert files.cli("stream ls --json", status=0).json == [], "nothing was changed"
    files("apply", ONE, status=0)
    assert "1 stream is as declared" in files("diff", ONE, status=0).out
    (changed,) = files("diff", ONE.replace("5", "6"), "--json", status=2).json["changes"]
    assert changed["differences"] == [{"key": "max_msgs", "before": 5, "after": 6, "refused": None}]
    wrong = files("diff", "streams: [{nam: S}]", status=64)
    assert "this stream has no name" in wrong.err and len(wrong.err.splitlines()) == 1
