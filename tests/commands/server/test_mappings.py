"""`server mappings`, which asks no server."""

from tests.support.run import Cli


def test_a_mapping(offline_cli: Cli) -> None:
    line = ["server", "mappings", "a.*", "x.{{wildcard(1)}}", "a.1"]
    assert offline_cli(line, status=0).out == "x.1\n"
    assert offline_cli([*line, "--json"], status=0).json == {"subject": "a.1", "mapped": "x.1"}


def test_what_is_missing_is_asked(offline_cli: Cli) -> None:
    outcome = offline_cli("server mapping", tty=True, answers=["a.*", "x.*", "a.7"], status=0)
    assert outcome.out.strip() == "x.7"


def test_what_is_wrong(offline_cli: Cli) -> None:
    assert "'b.1' does not match 'a.*'" in offline_cli("server mappings a.* x.* b.1", status=3).err
    assert (
        "there is no wildcard 2; the source has 1"
        in offline_cli("server mappings a.* x.$2 a.1", status=64).err
    )
    assert len(offline_cli("server mappings a.*", status=64).err.splitlines()) == 1
