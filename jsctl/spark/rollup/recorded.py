"""The rollup of a recording, in plain Python: a JVM takes longer to start than this does."""

from collections.abc import Iterable
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from jsctl.base.units import seconds_to_ns, to_datetime
from jsctl.monitor.report.replay import Replay
from jsctl.spark.export.report_tables import SCHEMAS, build_recorded_rows
from jsctl.spark.export.table_schema import Column
from jsctl.spark.rollup.definition import REPORTS, RollupReport, Sample


def roll_up_recording(
    replay: Replay,
    *,
    daily: bool,
    since: datetime | None,
    until: datetime | None,
    pattern: str,
) -> dict[str, list[Sample]]:
    """Return rows by report (streams, consumers, replication, servers), oldest first, of streams that match
    the glob `pattern`. Only samples from `since` up to `until` (exclusive) count; the last one before is what
    the first one is compared with. Raises BadInput for a damaged round."""
    samples: dict[str, list[Sample]] = {report.name: [] for report in REPORTS}
    columns = {report.name: _list_columns(report) for report in REPORTS}
    for number, at in enumerate(replay.times):
        time = to_datetime(seconds_to_ns(at))
        for place in replay.places(number):
            if place.answers is None:
                continue
            tables = build_recorded_rows(place.answers, place.context, place.domain, time)
            for report in REPORTS:
                for row in tables[report.name]:
                    if not pattern or "stream" not in report.keys or fnmatchcase(row["stream"], pattern):
                        samples[report.name].append(
                            {c.name: c.convert(row[c.name]) for c in columns[report.name]}
                        )
    return {
        report.name: roll_up_samples(report, samples[report.name], daily=daily, since=since, until=until)
        for report in REPORTS
    }


def roll_up_samples(
    report: RollupReport,
    samples: Iterable[Sample],
    *,
    daily: bool,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[Sample]:
    """Return the rows of a report; see `roll_up_recording`. samples: as its table has them."""
    names = ("context", "domain", *report.keys)
    by_subject: dict[tuple[Any, ...], list[Sample]] = {}
    for sample in samples:
        if not any(sample[column] is None for column in (*report.counters, *report.gauges)) and (
            not report.absent or sample[report.absent] is None
        ):
            by_subject.setdefault(tuple(sample[name] for name in names), []).append(sample)
    groups: dict[tuple[Any, ...], list[Sample]] = {}
    for subject, own in by_subject.items():
        previous = None
        for sample in sorted(own, key=lambda sample: sample["sampled_at"]):
            at = sample["sampled_at"]
            if not (since and at < since) and not (until and at >= until):
                period = at.replace(hour=0 if daily else at.hour, minute=0, second=0, microsecond=0)
                groups.setdefault((period, *subject), []).append(_compare(report, sample, previous))
            previous = sample
    return [
        dict(zip(("period", *names), key, strict=True))
        | {m.name: m.aggregate.compute(group, *m.arguments) for m in report.measures}
        for key, group in sorted(groups.items(), key=lambda pair: [*map(str, pair[0])])
    ]


def _compare(report: RollupReport, sample: Sample, previous: Sample | None) -> Sample:
    """Return a sample with what happened since the one before."""
    if previous is None:
        counters = {f"{name}_new": 0 for name in report.counters}
        gauges = {f"{name}_change": 0 for name in report.gauges}
        return sample | counters | gauges | {"seconds": None, "reset": False}
    before, now = (each[report.identity] if report.identity else None for each in (previous, sample))
    is_remade = before is not None and now is not None and before != now
    reset = is_remade or any(sample[name] < previous[name] for name in report.counters)
    starts_at_zero = is_remade or not report.identity
    compared: Sample = {"reset": reset}
    compared["seconds"] = (sample["sampled_at"] - previous["sampled_at"]).total_seconds()
    for name in report.counters:
        after_reset = sample[name] if starts_at_zero else 0
        compared[f"{name}_new"] = after_reset if reset else sample[name] - previous[name]
    for name in report.gauges:
        compared[f"{name}_change"] = sample[name] - previous[name]
    return sample | compared


def _list_columns(report: RollupReport) -> list[Column]:
    """Return the columns of a report's table that the rollup needs."""
    needed = {"sampled_at", "context", "domain", *report.keys, *report.counters, *report.gauges}
    needed |= {report.identity, report.absent}
    needed |= {argument for measure in report.measures for argument in measure.arguments}
    return [column for column in SCHEMAS[report.name].columns if column.name in needed]
