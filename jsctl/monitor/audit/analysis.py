"""The analysis of an archive: a report in the JSON form that the `nats` tool saves and loads, too."""

from collections.abc import Collection

from jsctl.base.command_lines import build_line
from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.json_text import parse_json
from jsctl.base.units import format_rfc3339, seconds_to_ns
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput
from jsctl.monitor.audit.archive import METADATA, Archive, Json
from jsctl.monitor.audit.model import Check, NothingToCheck, Outcome
from jsctl.monitor.audit.server_checks import CHECKS as SERVER_CHECKS
from jsctl.monitor.audit.snapshot import diagnose_archive
from jsctl.monitor.audit.stream_checks import CHECKS as STREAM_CHECKS

CHECKS = sorted((*SERVER_CHECKS, *STREAM_CHECKS), key=lambda check: (check.suite, check.code))
_TYPE = "io.nats.audit.v1.analysis"


def analyze(archive: Archive, skip: Collection[str], max_examples: int, now: float) -> Json:
    """Run all checks and return the report, with the findings of `jsctl doctor`.

    skip: codes of checks not to run. max_examples: how many examples of a check to include; 0 for all. now:
    seconds since 1970. Raises BadInput for a damaged archive.
    """
    skipped = {code.upper() for code in skip}
    if unknown := skipped - {check.code for check in CHECKS}:
        raise BadInput(f"there is no check {min(unknown)}", f"{build_line('audit checks')} lists them")
    try:
        doctor = [trouble.finding for trouble in diagnose_archive(archive)]
    except BadInput as error:
        doctor = [{"code": "DOCTOR_FAILED", "about": "the archive", "seen": error.message}]
    results = [_run_check(check, archive, max_examples, check.code in skipped) for check in CHECKS]
    counts = {outcome.name: 0 for outcome in Outcome}
    for result in results:
        counts[result["outcome_string"]] += 1
    return {
        "type": _TYPE,
        "time": format_rfc3339(seconds_to_ns(now)),
        "metadata": archive.load_special(METADATA),
        "skipped_checks": sorted(skipped),
        "skipped_suites": [],
        "checks": results,
        "outcomes": counts,
        "doctor": doctor,
    }


def _run_check(check: Check, archive: Archive, max_examples: int, skip: bool) -> Json:
    examples: Json = {}
    outcome, sentences = Outcome.SKIP, []
    if not skip:
        try:
            problems = list(check.find(archive, check.limits()))
            outcome = max((severity for _, severity in problems), default=Outcome.PASS)
            sentences = [sentence for sentence, _ in problems]
        except NothingToCheck as reason:
            examples["error"] = str(reason)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # An archive of another program may hold anything.
            examples["error"] = f"the archive holds something unexpected: {type(error).__name__} {error}"
    included = sentences[:max_examples] if max_examples else sentences
    if included:
        examples["examples"] = included
    if more := len(sentences) - len(included):
        examples["more"] = more
    return {
        "check": check.record(),
        "outcome": int(outcome),
        "outcome_string": outcome.name,
        "examples": examples,
    }


def load_report(path: str) -> Json:
    """Read a report that was saved. Raises BadInput."""
    try:
        report = parse_json(read_bytes(expand_home(path), "", CONFIG_SIZE))
        if not isinstance(report, dict) or report.get("type") != _TYPE:
            raise ValueError("it is not a report of jsctl audit analyze --save")
        for result in report["checks"]:
            Outcome[result["outcome_string"]], result["check"]["code"], result["check"]["description"]
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path} is not valid: {error}") from None
    return report
