"""`counter watch`."""

import json

from tests.support.run import Cli


def test_watch(hits: Cli) -> None:
    hits("counter incr hits.a 5", status=0)
    hits("counter incr hits.b -5", status=0)
    shown = hits("counter watch 'hits.*' --count 2", tty=True, status=0).out.splitlines()
    assert [line.split("] ")[1] for line in shown] == ["hits.a: 5 (+5)", "hits.b: -5 (-5)"]
    lines = hits("counter watch 'hits.*' --count 2 --json", status=0).out.splitlines()
    assert [json.loads(line)["value"] for line in lines] == ["5", "-5"]
