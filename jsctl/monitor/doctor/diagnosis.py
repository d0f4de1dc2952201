"""All rules, and their findings on a snapshot. No I/O."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from jsctl.base.command_lines import build_flag, build_line, note_questions
from jsctl.monitor.doctor.rules import accounts, consumers, origins, reach, seen, servers, subjects
from jsctl.monitor.doctor.snapshot import SYSTEM, Snapshot, choose_name
from jsctl.monitor.rules import contexts
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble

_MALFORMED = "ANSWER_MALFORMED"

Check = Callable[[Snapshot], Iterable[Trouble]]

_MODULES = (seen, reach, servers, accounts, origins, consumers, subjects)
_CHECKS: Sequence[Check] = [check for module in _MODULES for check in module.CHECKS]


def _list_rules() -> list[Rule]:
    """Return the rules of all modules, causes before their effects."""
    checked = (*reach.RULES, *servers.RULES, *accounts.RULES, *consumers.RULES, *subjects.RULES)
    by_code = {rule.code: rule for rule in (*contexts.RULES, *checked, *seen.RULES)}
    ordered: dict[str, Rule] = {}

    def add(rule: Rule) -> None:
        for cause in rule.causes:
            add(by_code[cause])
        ordered.setdefault(rule.code, rule)

    for rule in by_code.values():
        add(rule)
    return [*ordered.values(), Rule(_MALFORMED, "a server's answer is malformed", "servers")]


RULES = _list_rules()
"""All rules, in the order in which findings are shown."""

CODES = tuple(rule.code for rule in RULES)


def _run_check(check: Check, snapshot: Snapshot) -> list[Trouble]:
    """Return a check's findings. What servers report to the system account is not checked, and may have any
    shape.
    """
    try:
        return list(check(snapshot))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        return [
            Trouble.of_network(
                _MALFORMED,
                f"rule {check.__name__.upper()}",
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
    found: dict[str, list[Trouble]] = defaultdict(list)
    for check in _CHECKS:
        for finding in _run_check(check, snapshot):
            found[finding.code].append(finding)
    findings: list[Trouble] = []
    explained: dict[str, set[str]] = {}
    for rule in RULES:
        explained_objects = {name for code in rule.causes for name in explained.get(code, ())}
        for finding in found[rule.code]:
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
