"""`counter decrement`."""

from tests.support.run import Cli

HUGE = "1" + "0" * 5000


def test_numbers_of_any_size(hits: Cli) -> None:
    assert hits(f"counter incr hits.b {HUGE}", status=0).out == f"{HUGE}\n"
    assert hits("counter decr hits.b 1", status=0).out == "9" * 5000 + "\n"
    assert hits("counter get hits.b --json", status=0).json["value"] == "9" * 5000
    assert hits("counter decr hits.c 36893488147419103232", status=0).out == "-36893488147419103232\n"
    assert HUGE[1:-1] not in hits("counter view hits.c", status=0).out
