"""What `redrive` publishes again, and what it removes."""

from collections.abc import Collection
from typing import Any

from jsctl.base.units import format_bytes, join_some, pluralize
from jsctl.jetstream.redrive.journal import Journal
from jsctl.jetstream.redrive.plan import RedrivePlan
from jsctl.jetstream.redrive.undo import UndoPlan
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text


def plan_intent(stream: str, consumer: str, plan: RedrivePlan, journal: str) -> Intent:
    """Return the intent to publish what is planned. journal: its path; empty for none."""
    counts = plan.count_subjects()
    named = [f"{subject} of stream {plan.targets[subject]['config']['name']}" for subject in counts]
    amount = f"{pluralize(len(plan.items), 'message')} ({format_bytes(plan.bytes)})"
    source = f"Consumer {stream} > {consumer}" if consumer else f"Stream {stream}"
    action = f"publish {amount} of {source} again on {join_some(named)}"
    notes = describe_rest(plan)
    facts = {
        "stream": stream,
        "consumer": consumer,
        "messages": len(plan.items),
        "bytes": plan.bytes,
        "first": min((item.sequence for item in plan.items), default=None),
        "last": max((item.sequence for item in plan.items), default=None),
        "subjects": dict(counts),
        "quarantined": plan.quarantined,
        "left": plan.left,
        "gone": plan.gone,
        "journal": journal or None,
    }
    return Intent(action, facts, [f"Would {action}", *notes])


def describe_rest(plan: RedrivePlan) -> list[str]:
    """Return what becomes of other messages, a sentence each."""
    notes = []
    if plan.quarantined:
        notes.append(
            f"{pluralize(plan.quarantined, 'message')} of these to quarantine, for too many redrives"
        )
    if plan.left:
        notes.append(f"{pluralize(plan.left, 'message')} left out, for too many redrives (--max-redrives)")
    if plan.gone:
        notes.append(f"{pluralize(plan.gone, 'message')} left out, as the stream does not hold them any more")
    return notes


def continue_intent(journal: Journal) -> Intent:
    """Return the intent to publish what a journal has no outcome for."""
    head, left = journal.head, len(journal.remaining)
    amount = f"the remaining {pluralize(left, 'message')} of {len(journal.items):,}"
    action = f"publish {amount} of Stream {head['stream']} again"
    return Intent(action, {"stream": head["stream"], "messages": left, **count_outcomes(journal)})


def count_outcomes(journal: Journal) -> dict[str, Any]:
    """Return the numbers of a journal."""
    return {
        "run": journal.head.get("run"),
        "total": len(journal.items),
        "stored": len(journal.stored),
        "duplicates": sum(place.is_duplicate for place in journal.stored.values()),
        "gone": len(journal.gone),
        "skipped": len(journal.skipped),
        "quarantined": sum(item.is_quarantined for item in journal.items.values()),
        "remaining": len(journal.remaining),
        "journal": journal.path or None,
    }


def published(journal: Journal, before: Collection[int], seconds: float, left: int, lost: int) -> Result:
    """Show what was published. before: the messages that an earlier run had stored. left: number of
    those that were redriven too often. lost: see `count_lost`."""
    counts = count_outcomes(journal)
    fresh = [place for sequence, place in journal.stored.items() if sequence not in before]
    duplicates = sum(place.is_duplicate for place in fresh)
    stored = len(fresh) - duplicates
    texts = [
        f"{pluralize(stored, 'message')} of stream {journal.head['stream']} published again in {seconds:.1f}s"
    ]
    if before:
        texts.append(f"{len(before):,} of {counts['total']:,} by an earlier run")
    if duplicates:
        texts.append(f"{duplicates:,} had been stored before, and were not stored twice")
    for key in ("quarantined", "gone", "skipped"):
        if counts[key]:
            texts.append(f"{counts[key]:,} {key}")
    if left:
        texts.append(f"{left:,} left out, for too many redrives")
    data = {
        "stream": journal.head["stream"],
        "consumer": journal.head["consumer"],
        "messages": stored,
        **counts,
        "duplicates_gone": lost,
        "left": left,
        "seconds": round(seconds, 3),
    }
    return Result([Text("; ".join(texts))], data)


def nothing(stream: str, plan: RedrivePlan | None, journal: Journal) -> Result:
    """Show that there is nothing to publish. plan: of a new redrive."""
    if plan is None:
        count = f"{len(journal.stored):,} of {len(journal.items):,} messages"
        text = f"Nothing is left: {count} were published again"
    else:
        text = "; ".join([f"No messages of stream {stream} are chosen", *describe_rest(plan)])
    rest = {"left": plan.left, "gone": plan.gone} if plan else {}
    return Result([Text(text)], {"stream": stream, "messages": 0, **count_outcomes(journal), **rest})


def undo_intent(journal: Journal, plan: UndoPlan) -> Intent:
    """Return the intent to remove what a redrive stored."""
    streams = ", ".join(f"{len(pairs):,} of stream {stream}" for stream, pairs in plan.removable.items())
    source = f"a redrive of stream {journal.head['stream']}"
    action = f"remove {pluralize(plan.removals, 'message')} that {source} stored"
    action += f" ({streams})" if streams else ""
    facts = {"messages": plan.removals, **describe_undo(plan), "journal": journal.path}
    return Intent(action, facts, [f"Would {action}", *list_impossible(plan)])


def describe_undo(plan: UndoPlan) -> dict[str, Any]:
    """Return what an undo cannot remove, as data."""
    return {
        "streams": {stream: len(pairs) for stream, pairs in plan.removable.items()},
        "gone": plan.gone,
        "earlier": plan.earlier,
        "denied": dict(plan.denied),
    }


def list_impossible(plan: UndoPlan) -> list[str]:
    """Return what an undo cannot remove, a sentence each."""
    notes = []
    if plan.gone:
        notes.append(
            f"{pluralize(plan.gone, 'message')} cannot be removed: consumed, removed or expired since"
        )
    if plan.earlier:
        notes.append(f"{pluralize(plan.earlier, 'message')} not removed: an earlier redrive had stored them")
    for stream, count in plan.denied.items():
        notes.append(f"{pluralize(count, 'message')} cannot be removed: stream {stream} denies it")
    return notes


def undone(journal: Journal, plan: UndoPlan, removed: int) -> Result:
    """Show what was removed."""
    text = f"{pluralize(removed, 'message')} removed that a redrive of stream {journal.head['stream']} stored"
    data = {"removed": removed, **describe_undo(plan), "undone": len(journal.undone), "journal": journal.path}
    return Result([Text("; ".join([text, *list_impossible(plan)]))], data)
