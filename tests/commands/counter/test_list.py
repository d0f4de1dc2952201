"""`counter list`."""

from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_list(hits: Cli) -> None:
    assert "There are no counters" in hits("counter list", status=0).out
    for subject, value in (("hits.b", 2), ("hits.a", 1), ("all.x", 3)):
        hits(f"counter incr {subject} {value}", status=0)
    wait_for(lambda: len(hits("counter ls --json").json) == 5, "the sums arrive")
    assert hits("counter ls 'hits.*' --json", status=0).json == ["hits.a", "hits.b"]
    row = hits("counter ls 'hits.*' --rows --json", status=0).json[0]
    assert (row["subject"], row["value"], row["stream"]) == ("hits.a", "1", "HITS")
    assert hits("counter ls 'hits.*' --names", status=0).out == "hits.a\nhits.b\n"
    lines = hits("counter ls 'hits.*'", status=0).out.splitlines()[2:]
    assert [row.split()[:3] for row in lines] == [["hits.a", "1", "HITS"], ["hits.b", "2", "HITS"]]
    assert len(hits("counter l --stream ALL --json", status=0).json) == 3
    assert "no counter that matches hits.x.*" in hits("counter ls 'hits.x.*'", status=0).out
    assert "not found" in hits("counter ls nope.x", status=3).err


def test_a_list_of_long_numbers_fits(hits: Cli) -> None:
    number = "7" * 300
    hits(f"counter increment hits.long {number}", status=0)
    shown = hits("counter list", tty=True, width=80, status=0).out
    assert max(map(len, shown.splitlines())) <= 80 and "7…7" in shown
    assert number in hits("counter list", status=0).out
