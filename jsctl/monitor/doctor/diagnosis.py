"""All rules, and their findings on a snapshot. No I/O."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from jsctl.base.command_lines import build_flag, build_line, note_questions
from jsctl.monitor.doctor.rules import accounts, consumers, origins, reach, servers, subjects
from jsctl.monitor.doctor.rules.seen import find_seen, group_by_code
from jsctl.monitor.doctor.snapshot import SYSTEM, Snapshot, choose_name
from jsctl.monitor.rules.catalog import RULES
from jsctl.monitor.trouble import Trouble

_MALFORMED = "ANSWER_MALFORMED"

Check = Callable[[Snapshot], Iterable[Trouble]]

_CHECKS: Mapping[str, Check] = {
    "CONTEXT_FAILED": reach.context_failed,
    "DOMAIN_MISSING": reach.domain_missing,
    "META_RESCUE": servers.meta_rescue,
    "META_NO_LEADER": servers.meta_no_leader,
    "JETSTREAM_SILENT": reach.jetstream_silent,
    "DOMAIN_TWICE": reach.domain_twice,
    "DOMAIN_UNNAMED": reach.domain_unnamed,
    "SERVER_SILENT": servers.server_silent,
    "SYSTEM_NOT_LINKED": servers.system_not_linked,
    "IMPORT_INVALID": accounts.import_invalid,
    "IMPORT_DEAD": accounts.import_dead,
    "ORIGIN_MISSING": origins.origin_missing,
    "ORIGIN_SILENT": origins.origin_silent,
    "DELIVERY_NOT_IMPORTED": accounts.delivery_not_imported,
    "FLOW_CONTROL_MISSING": accounts.flow_control_missing,
    "CONSUMER_ORPHANED": consumers.consumer_orphaned,
    "LINK_IDLE": origins.link_idle,
    "LINK_FAILED": origins.link_failed,
    "SUBJECT_TWICE": subjects.subject_twice,
    "REPLICA_OFFLINE": servers.replica_offline,
    "STREAM_NO_LEADER": servers.stream_without_leader,
    "API_LEVEL_DIFFERS": servers.api_level_differs,
    "CLOCKS_APART": servers.clocks_apart,
    "LIMIT_NEAR": servers.server_limit_near,
    "LOGIN_EXPIRES": reach.login_expires,
    "SLOW_CONSUMERS": reach.slow_consumers,
}
"""What the rules of a network check. Those of single objects are in `rules.seen`."""

CODES = tuple(rule.code for rule in RULES)


def _run_check(code: str, check: Check, snapshot: Snapshot) -> list[Trouble]:
    """Return a rule's findings. What servers report to the system account is not checked, and may have any
    shape.
    """
    try:
        return list(check(snapshot))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        return [
            Trouble.of_network(
                _MALFORMED,
                f"rule {code}",
                f"a server's answer is malformed: {type(error).__name__} {error}",
                "this rule could not be checked",
                f"see what the servers answer: {snapshot.build_system_line('server request jetstream')};"
                " perhaps another program than nats-server answers",
            )
        ]


def diagnose(snapshot: Snapshot, ignore: Collection[str] = ()) -> list[Trouble]:
    """Return what is wrong, the causes first, without what other findings explain.

    ignore: codes to leave out; what such findings explain is left out, too.
    """
    seen = group_by_code(iter(_run_check("of objects", find_seen, snapshot)))
    findings: list[Trouble] = []
    explained: dict[str, set[str]] = {}
    for rule in RULES:
        explained_objects = {name for code in rule.causes for name in explained.get(code, ())}
        check = _CHECKS.get(rule.code)
        findings_of_rule = [] if check is None else _run_check(rule.code, check, snapshot)
        for finding in [*findings_of_rule, *seen.get(rule.code, ())]:
            if explained_objects and set(finding.objects) <= explained_objects:
                continue
            explained.setdefault(rule.code, set()).update(finding.objects)
            findings.append(finding)
    return [
        finding._replace(advice=note_questions(_name_contexts(finding, snapshot)))
        for finding in findings
        if finding.code not in ignore
    ]


def _name_contexts(finding: Trouble, snapshot: Snapshot) -> str:
    """Return what to do, with how to make the contexts which its command lines name and are not known. One
    that was not looked at may be the right one."""
    known = {context.name for context in snapshot.contexts}
    for name, whose in dict(snapshot.list_unknown_logins()).items():
        flag = _format_context_flag(name)
        pattern = rf"{re.escape(flag)}(?=[ ;,]|$)"
        if (name in known and name != SYSTEM) or not re.search(pattern, finding.advice):
            continue
        if name not in known and name in snapshot.stored:
            return f"make sure that{flag} is a context of {whose}; then {finding.advice}"
        free = choose_name(name, known)
        advice = _format_context_flag(free).join(re.split(pattern, finding.advice))
        return f"give {whose} a context with {build_line('context add', free, place=())}; then {advice}"
    return finding.advice


def _format_context_flag(name: str) -> str:
    return build_line("", place=build_flag("--context", name)).removeprefix("jsctl")
