"""`doctor --fix`: runs the command lines that end findings, one at a time, and looks after each whether it
helped."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from jsctl.errors import JsctlError
from jsctl.monitor.doctor.snapshot import Snapshot
from jsctl.monitor.trouble import Repair, Trouble

LIMIT_SECONDS = 30.0
"""Seconds within which a command must have helped: replicas need a while."""
_PAUSE = 0.5  #: seconds between two looks

_UNSEEN = frozenset(
    {
        *("CONTEXT_FAILED", "SERVER_SILENT", "DOMAIN_MISSING", "META_NO_LEADER", "JETSTREAM_SILENT"),
        *("ORIGIN_SILENT", "REPLICA_OFFLINE"),
    }
)
"""Codes of findings that a server which is away has. No command of a plan stops one, and nobody can tell what
else is due to it."""

Outcome = Literal["not_run", "run", "fixed", "not_needed", "failed", "undone", "not_undone"]
"""run: whether it helps is not known, yet or, with a reason, at all. not_needed: its finding was gone before.
failed: its command was refused. undone, not_undone: the command did not help."""

Examine = Callable[[], Awaitable[tuple[Snapshot, list[Trouble]]]]
Run = Callable[[Sequence[str]], Awaitable[None]]


@dataclass(slots=True)
class Step:
    """A finding and what ends it. why: why it did not, empty if it did."""

    finding: Trouble
    repair: Repair
    outcome: Outcome = "not_run"
    why: str = ""


def plan_steps(findings: Sequence[Trouble]) -> list[Step]:
    """Return the steps for those findings that have a repair, the causes first."""
    return [Step(finding, finding.repair) for finding in findings if finding.repair is not None]


async def run_steps(
    steps: Sequence[Step], planned: Sequence[Trouble], examine: Examine, run: Run
) -> tuple[Snapshot, list[Trouble]]:
    """Run the steps until one does not help and cannot be undone, or cannot be judged, and note in each what
    came of it. Return the last examination.

    planned: the findings that the steps were made of. run: runs the words of a command line; raises
    JsctlError.
    """
    seen = await examine()
    for step in steps:
        seen = await _wait_until_known(step, planned, seen, examine)
        if all(finding.repair != step.repair for finding in seen[1]):
            step.outcome = "not_run" if step.why else "not_needed"
            continue
        before, step.outcome = seen[1], "run"
        try:
            await run(step.repair.command)
        except JsctlError as error:
            step.outcome, step.why = "failed", str(error)
            seen = await examine()
            continue
        seen, is_judged = await _wait(step, before, examine)
        if not is_judged:
            break
        if step.outcome == "run":
            is_undone = await _undo(step, run)
            seen = await examine()
            if not is_undone:
                break
    return seen


async def _wait_until_known(
    step: Step, planned: Sequence[Trouble], seen: tuple[Snapshot, list[Trouble]], examine: Examine
) -> tuple[Snapshot, list[Trouble]]:
    """Examine until the finding of a step is there, or gone without others that may hide it, such as a server
    that does not answer any more; after too long, note these in the step."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while all(finding.repair != step.repair for finding in seen[1]):
        came = list_new(step.finding, planned, seen[1])
        if not came:
            break
        if time.monotonic() > deadline:
            step.why = f"{', '.join(came)} came before it"
            break
        await asyncio.sleep(_PAUSE)
        seen = await examine()
    return seen


def _count(findings: Sequence[Trouble]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.about) for finding in findings)


def list_new(step: Trouble, before: Sequence[Trouble], after: Sequence[Trouble]) -> list[str]:
    """Return the findings that came with a step, of those codes that more findings have than before: one that
    only moved, such as a replica that is behind, is no other. Other streams do not count.

    step: the finding that it was to end.
    """
    before = [finding for finding in before if not _is_elsewhere(finding, step)]
    after = [finding for finding in after if not _is_elsewhere(finding, step)]
    more = Counter(finding.code for finding in after) - Counter(finding.code for finding in before)
    came = _count(after) - _count(before)
    return [f"{code} ({about})" for code, about in came if code in more]


def _is_elsewhere(finding: Trouble, step: Trouble) -> bool:
    """Return whether a finding concerns only other streams than a step does, and their consumers."""
    own = {stream for name in step.objects for stream in _list_streams(name)}
    streams = [_list_streams(name) for name in finding.objects]
    return bool(own and streams) and all(each and not own & each for each in streams)


def _list_streams(name: str) -> set[str]:
    """Return the name of the stream of an object of a finding, and of the one that it copies, without their
    domains; empty for what is no stream, mirror, source or consumer."""
    kind, _, rest = name.partition(" ")
    if kind not in ("stream", "consumer"):
        return set()
    stream, _, origin = rest.partition(" from ")
    if kind == "consumer":
        stream = stream.rpartition(" > ")[0]
    return {stream.rpartition(" > ")[2], *([origin.rpartition(".")[2]] if origin else ())}


async def _wait(
    step: Step, before: Sequence[Trouble], examine: Examine
) -> tuple[tuple[Snapshot, list[Trouble]], bool]:
    """Examine until the step has helped, or too long, also after the first finding that came with it; note in
    it what did not become better. Return the last examination, and whether that shows what the step did: not
    if a server is away since."""
    key = (step.finding.code, step.finding.about)
    deadline = time.monotonic() + LIMIT_SECONDS
    is_extended = False
    while True:
        seen = await examine()
        new = list_new(step.finding, before, seen[1])
        if _count(seen[1])[key] < _count(before)[key] and not new:
            step.outcome, step.why = "fixed", ""
            return seen, True
        step.why = f"{', '.join(new)} came with it" if new else "the finding is still there"
        is_hidden = any(code.partition(" ")[0] in _UNSEEN for code in new)
        if new and not is_extended:  # a server counts as away only after a while
            is_extended, deadline = True, time.monotonic() + LIMIT_SECONDS
        if time.monotonic() > deadline:
            if is_hidden:
                step.why = f"{', '.join(new)} came meanwhile, so that this cannot be judged"
            return seen, not is_hidden
        await asyncio.sleep(_PAUSE)


async def _undo(step: Step, run: Run) -> bool:
    """Undo a step, and return whether that was possible."""
    step.outcome = "not_undone"
    if not step.repair.undo:
        step.why += "; nothing undoes the command"
        return False
    try:
        await run(step.repair.undo)
    except JsctlError as error:
        step.why += f"; it was not undone: {error}"
        return False
    step.outcome = "undone"
    return True
