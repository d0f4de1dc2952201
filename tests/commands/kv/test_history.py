"""`kv history`."""

from tests.support.run import Cli


def test_history(config: Cli) -> None:
    shown = config("kv history CONFIG user.1", status=0).out.splitlines()
    assert shown[1].split() == ["Key", "Revision", "Op", "Created", "Length", "Value"]
    assert [line.split()[1:3] + line.split()[-1:] for line in shown[2:]] == [
        ["1", "PUT", "Ann"],
        ["2", "PUT", "Bob"],
    ]
    every = config("kv history CONFIG '>' --json", status=0).json
    assert [one["revision"] for one in every] == [1, 2, 3, 4, 5]
