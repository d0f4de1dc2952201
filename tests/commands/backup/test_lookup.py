"""`backup lookup`; `test_edit.py` has what an edit wrote."""

from pathlib import Path

import pytest

from tests.support.run import Cli

SECRET = "lrDKXp3gnUuB9IHjiQAWPkpC61jog8YgNLqK0krNFj0="


def test_names_and_subjects(offline_cli: Cli, tmp_path: Path) -> None:
    """The hashes are those that the `nats` tool reads and writes (0.5.0)."""
    entries = '{"5cllm25t5thmp956": "ORDERS", "f0ldgh9ljsfgndmj": "new"}'
    (tmp_path / "k.json").write_text(f'{{"version": 1, "secret": "{SECRET}", "map": {entries}}}')
    line = f"backup lookup {tmp_path}/k.json 5cllm25t5thmp956.f0ldgh9ljsfgndmj.* KV_5cllm25t5thmp956 other"
    assert offline_cli(line, status=0).out == "ORDERS.new.*\nKV_ORDERS\nother\n"
    assert offline_cli(f"{line} --json", status=0).json["other"] == "other"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1, "secret": "eA=="}',
        f'{{"version": 1, "secret": "{SECRET}", "map": 1}}',
    ],
)
def test_what_is_no_key_file(offline_cli: Cli, tmp_path: Path, content: str) -> None:
    (tmp_path / "k.json").write_text(content)
    assert offline_cli(f"backup lookup {tmp_path}/k.json x", status=64).err.count("\n") == 1
