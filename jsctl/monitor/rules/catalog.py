"""What a rule is. Each is declared in `RULES` of the module that finds it.

There is one list for `doctor`, the problems of `report`, `consumer why`, the exporter and `--fail-on`:
`doctor.diagnosis.RULES`. Rules of one stream, mirror, source, consumer, account or login are in `streams`,
`objects`, `links`, `contexts` and `jsctl.monitor.consumer`; they apply wherever such an object is seen. Rules
that compare places or need the system account are in `jsctl.monitor.doctor.rules`."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Part = Literal["contexts", "servers", "accounts", "streams", "links", "consumers"]


class Rule(NamedTuple):
    """A kind of problem.

    means: its meaning in a few words. part: what it looks at. causes: codes of the rules whose findings
    explain this one: if they name all of the same objects, this one is only a symptom and is left out. why:
    why it matters; empty if each finding says it. fix: what to do, with commands in braces; a command line
    may follow it. rounds: whether it needs several looks.
    """

    code: str
    means: str
    part: Part
    causes: Sequence[str] = ()
    why: str = ""
    fix: str = ""
    rounds: bool = False
