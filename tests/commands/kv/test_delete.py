"""`kv del`: keys and whole buckets."""

import pytest

from tests.support.buckets import operations
from tests.support.run import Cli


def test_a_bucket_is_removed(config: Cli) -> None:
    dry = config("kv del CONFIG --dry-run", status=0).out
    assert "Would delete bucket CONFIG (5 values" in dry
    assert "cannot ask" in config("kv rm CONFIG", status=64).err
    declined = config("kv del CONFIG", answers=[False], status=0)
    assert "Really delete bucket CONFIG (5 values" in declined.asked[0]
    assert config("kv del CONFIG --force --json", status=0).json == {"bucket": "CONFIG", "deleted": True}
    config("kv info CONFIG", status=3)


def test_delete_keeps_what_was(config: Cli) -> None:
    told = config("kv del CONFIG user.1 --force", terminal_error=True, status=0)
    assert (told.out, told.err) == ("", "CONFIG > user.1 was deleted\n")
    assert operations(config, "user.1") == ["PUT", "PUT", "DELETE"]
    assert "was deleted at" in config("kv del CONFIG user.1", status=3).err
    assert "not found" in config("kv del CONFIG none", status=3).err


@pytest.mark.parametrize(("verb", "operation"), [("del", "DELETE"), ("purge", "PURGE")])
def test_a_key_that_never_was_gets_a_marker(verb: str, operation: str, config: Cli) -> None:
    """As with `nats`, where force is given: watchers and mirrors hear of it."""
    config(f"kv {verb} CONFIG none --force", status=0)
    assert operations(config, "none") == [operation]
    assert f"] {operation} CONFIG > none\n" in config("kv watch CONFIG none --count 1", status=0).out


@pytest.mark.parametrize(("verb", "count"), [("del", 2), ("purge", 3)])
def test_patterns(config: Cli, verb: str, count: int) -> None:
    dry = config(f"kv {verb} CONFIG '>' --dry-run --json", status=0).json
    assert len(dry["keys"]) == count, "a deleted key has nothing left to delete, but to purge"
    assert "Would" in config(f"kv {verb} CONFIG '>' --dry-run", status=0).out
    questions = config(f"kv {verb} CONFIG '>'", answers=[False], status=0).asked[0]
    assert f"{count} keys of bucket CONFIG (logo, user.1" in questions
    assert config("kv ls CONFIG", status=0).out == "logo\nuser.1\n"
    assert "cannot ask" in config(f"kv {verb} CONFIG 'user.*'", status=64).err
    done = config(f"kv {verb} CONFIG '>' --force", terminal_error=True, status=0).err
    assert f"{count} keys of bucket CONFIG were" in done
    assert config("kv ls CONFIG --json", status=0).json == []
    assert "no key matches >" in config(f"kv {verb} CONFIG '>' --force", status=3).err


def test_a_purge_says_how_many_values_go(config: Cli) -> None:
    config("kv put CONFIG once only", status=0)
    asked = config("kv purge CONFIG user.1", answers=[False], status=0).asked[0]
    assert "purge key CONFIG > user.1 with 2 values" in asked
    asked = config("kv purge CONFIG 'user.*'", answers=[False], status=0).asked[0]
    assert "purge 2 keys of bucket CONFIG (user.1, user.2) with 4 values" in asked
    dry = config("kv purge CONFIG 'user.*' --dry-run --force", status=0).out
    assert "Would purge CONFIG > user.1: 2 values\n" in dry
    assert "Would purge CONFIG > user.2: 2 values\n" in dry
    assert "CONFIG > once: 1 value\n" in config("kv purge CONFIG once --dry-run", status=0).out


def test_several_keys_are_deleted_at_once(config: Cli) -> None:
    config("kv del CONFIG logo user.1 --force", status=0)
    assert config("kv ls CONFIG --json", status=0).json == []
