"""What is wrong or odd in the operators of declared files is said, all of it at once."""

from pathlib import Path

from tests.support.run import Cli


def test_all_errors_of_a_file_are_named_at_once(auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "environment.yaml"
    file.write_text(
        "operators:\n  - name: ACME\n    accounts:\n      - {name: A, limits: {conn: many}}\n"
        "      - {name: B, nope: 1}\n"
        "streams:\n  - {name: S, max_msgs: few}\n"
    )
    err = auth_cli(f"diff -f {file}", status=64).err
    assert "conn must be" in err and "unknown key 'nope'" in err and "max_msgs must be" in err


def test_numbers_that_yaml_reads_otherwise_are_warned_of(auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "environment.yaml"
    file.write_text("operators:\n  - name: ACME\n    accounts:\n      - {name: A, limits: {conn: 010}}\n")
    diff = auth_cli(f"diff -f {file} --json", status=2)
    assert "conn: 010 is octal in YAML, 8" in diff.err
    assert ["conn: 010 is octal in YAML, 8" in warning for warning in diff.json["warnings"]] == [True]


def test_what_is_declared_twice_is_named(auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "environment.yaml"
    file.write_text("operators:\n  - name: ACME\n  - name: ACME\n")
    err = auth_cli(f"diff -f {file}", status=64).err
    assert f"{file}:3: operator ACME is declared twice; first in {file}:2" in err
