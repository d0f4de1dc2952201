"""`object ls`."""

from tests.support.run import Cli


def test_nothing_is_listed_in_words(cli: Cli) -> None:
    assert cli("object ls", status=0).out == "No Object Store buckets found\n"
    cli("object add FILES", status=0)
    assert cli("object ls FILES", status=0).out == "No entries found\n"
