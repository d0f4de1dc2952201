"""`kv history`."""

from tests.support.run import Cli
from tests.support.tables import read_table


def test_history(config: Cli) -> None:
    rows = read_table(config("kv history CONFIG user.1", status=0).out)
    assert list(rows[0]) == ["Key", "Revision", "Op", "Created", "Length", "Value"]
    shown = [(row["Revision"], row["Op"], row["Value"]) for row in rows]
    assert shown == [("1", "PUT", "Ann"), ("2", "PUT", "Bob")]
    every = config("kv history CONFIG '>' --json", status=0).json
    assert [one["revision"] for one in every] == [1, 2, 3, 4, 5]
