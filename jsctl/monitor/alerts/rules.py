"""The file of `report --alert`: rules, silences and receivers. No I/O."""

from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from jsctl.base.similar_names import find_nearest
from jsctl.base.units import parse_duration, parse_time_ns
from jsctl.errors import BadInput
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.find.expression import Condition
from jsctl.monitor.alerts.conditions import parse_condition

Form = Literal["slack", "alertmanager", "jsctl"]
FORMS: Sequence[Form] = ("slack", "alertmanager", "jsctl")
PATTERNS = ("context", "domain", "stream", "consumer", "row")
"""What rules and silences choose rows by, with * and ?. `row` is a name: `east: consumer ORDERS > C`."""


class Scope(NamedTuple):
    """Which rows are meant. patterns: by what they are of, one of PATTERNS."""

    patterns: Mapping[str, str]

    def has_place(self, context: str, domain: str) -> bool:
        """Return whether rows of a place may be meant."""
        return self._fits("context", context) and self._fits("domain", domain)

    def has_row(self, name: str, values: Mapping[str, Any]) -> bool:
        """Return whether a row of such a place is meant. values: of the row."""
        names = {key: str(values.get(key) or "") for key in ("stream", "consumer")}
        return all(self._fits(key, text) for key, text in [*names.items(), ("row", name)])

    def _fits(self, key: str, text: str) -> bool:
        return key not in self.patterns or fnmatchcase(text, self.patterns[key])


class Rule(NamedTuple):
    """An alert. hold: ns for which `when` holds before it fires. until: what ends it once it fires; None for
    `when` no longer holding. keep: ns for which that must hold. tells_no_data: whether it is an event when it
    is not known."""

    name: str
    when: Condition
    hold: int = 0
    until: Condition | None = None
    keep: int = 0
    scope: Scope = Scope({})
    severity: str = ""
    about: str = ""
    tells_no_data: bool = True
    to: Sequence[str] | None = None


class Silence(NamedTuple):
    """Alerts that nobody gets. alert: pattern of names. begin, end: ns since 1970, None for always."""

    alert: str
    scope: Scope
    begin: int | None
    end: int | None

    def covers(self, alert: str, at: int) -> bool:
        """Return whether it holds for an alert at a time in ns since 1970."""
        is_time = (self.begin is None or self.begin <= at) and (self.end is None or at < self.end)
        return is_time and fnmatchcase(alert, self.alert)


class Receiver(NamedTuple):
    """Who gets alerts. command: its arguments; empty for a webhook, or stderr with neither. by: keys whose
    values events in one message share."""

    name: str
    command: Sequence[str] = ()
    webhook: str = ""
    form: Form = "jsctl"
    by: Sequence[str] = ("alert", "context", "domain")
    includes_pending: bool = False


class AlertFile(NamedTuple):
    """What a file says."""

    rules: Sequence[Rule]
    silences: Sequence[Silence] = ()
    receivers: Sequence[Receiver] = ()


GROUP_KEYS = ("alert", "context", "domain", "stream", "kind", "severity")
_SCOPE = frozenset(PATTERNS)
_RULE = _SCOPE | {"name", "when", "for", "until", "keep", "severity", "about", "no_data", "to"}
_SILENCE = _SCOPE | {"alert", "from", "until", "about"}
_RECEIVER = frozenset({"name", "command", "webhook", "form", "stderr", "by", "pending"})


def parse_alerts(text: str, file: str) -> AlertFile:
    """Parse the YAML or JSON of a file of alerts. file: its name. Raises BadInput with file and line."""
    document = parse_document(text, file)
    document.read_keys("a file of alerts", {"alerts", "silences", "receivers"})
    receivers: dict[str, Receiver] = {}
    for node in document.list_below("receivers"):
        receiver = _parse_receiver(node)
        if receiver.name in receivers:
            raise node.error(
                f"the receiver {receiver.name!r} is declared twice", "add a name of its own: name: ops"
            )
        receivers[receiver.name] = receiver
    nodes = document.list_below("alerts")
    if not nodes:
        raise document.error("there is no alert", "list some below alerts: {name: late, when: lag > 100}")
    rules: dict[str, Rule] = {}
    for node in nodes:
        rule = _parse_rule(node, receivers)
        if rule.name in rules:
            raise node.error(f"the alert {rule.name!r} is declared twice", "give each a name of its own")
        rules[rule.name] = rule
    silences = [_parse_silence(node, [*rules]) for node in document.list_below("silences")]
    return AlertFile([*rules.values()], silences, [*receivers.values()])


def _parse_rule(node: Node, receivers: Collection[str]) -> Rule:
    keys = node.read_keys("an alert", _RULE)
    name = _read_text(node, "name")
    if not name:
        raise node.error("an alert needs a name", "add name: late")
    if "when" not in keys:
        raise node.error(f"the alert {name!r} needs a condition", "add when: lag > 100")
    when = _parse(keys["when"], "when", parse_condition)
    if when.hold and "for" in keys:
        raise keys["for"].error("for is also at the end of when", "leave out one of them")
    until = _parse(keys["until"], "until", parse_condition) if "until" in keys else None
    keep = _read_span(node, "keep")
    if until is not None and until.hold and keep:
        raise keys["keep"].error("keep is also the for at the end of until", "leave out one of them")
    no_data = _read_text(node, "no_data") or "alert"
    if no_data not in ("alert", "ignore"):
        raise keys["no_data"].error(f"no_data is {no_data!r}", "use alert or ignore")
    to = [item.as_text("to") for item in _list(keys["to"], "to")] if "to" in keys else None
    for each in to or ():
        if each not in receivers:
            raise keys["to"].error(f"there is no receiver {each!r}", "declare it below receivers")
    return Rule(
        name,
        when.condition,
        when.hold or _read_span(node, "for"),
        None if until is None else until.condition,
        keep or (0 if until is None else until.hold),
        _parse_scope(node),
        _read_text(node, "severity"),
        _read_text(node, "about"),
        no_data == "alert",
        to,
    )


def _parse_silence(node: Node, rules: Sequence[str]) -> Silence:
    keys = node.read_keys("a silence", _SILENCE)
    alert = _read_text(node, "alert") or "*"
    if not any(fnmatchcase(name, alert) for name in rules):
        hint = find_nearest(alert, rules)
        raise keys["alert"].error(
            f"there is no alert {alert!r}", f"did you mean {hint}?" if hint else "use the name of one, or *"
        )
    begin, end = (_parse(keys[key], key, parse_time_ns) if key in keys else None for key in ("from", "until"))
    if begin is not None and end is not None and end <= begin:
        raise keys["until"].error("the silence ends before it begins", "use a time after from")
    return Silence(alert, _parse_scope(node), begin, end)


def _parse_receiver(node: Node) -> Receiver:
    keys = node.read_keys("a receiver", _RECEIVER)
    ways = [key for key in ("command", "webhook", "stderr") if key in keys]
    if len(ways) != 1:
        raise node.error("a receiver needs one of command, webhook and stderr", "add command: [notify-send]")
    if "stderr" in keys and not _read_bool(node, "stderr"):
        raise keys["stderr"].error("stderr must be true", "or leave out the receiver")
    command = (
        [item.as_text("command") for item in _list(keys["command"], "command")] if "command" in keys else []
    )
    if "command" in keys and not (command and command[0]):
        raise keys["command"].error("command names no program", "write command: [program, argument]")
    webhook = _read_text(node, "webhook")
    if "webhook" in keys and (
        urlsplit(webhook).scheme not in ("http", "https") or not urlsplit(webhook).netloc
    ):
        raise keys["webhook"].error("webhook is not an address", "use one that begins with https://")
    form = _read_text(node, "form") or "jsctl"
    if form not in FORMS:
        raise keys["form"].error(f"form is {form!r}", f"use {', '.join(FORMS[:-1])} or {FORMS[-1]}")
    if "form" in keys and "stderr" in keys:
        raise keys["form"].error("form is for a command or webhook", "leave it out")
    by = [item.as_text("by") for item in _list(keys["by"], "by")] if "by" in keys else None
    for key in by or ():
        if key not in GROUP_KEYS:
            raise keys["by"].error(f"by names {key!r}", f"use {', '.join(GROUP_KEYS)}")
    default = Receiver("")
    return Receiver(
        _read_text(node, "name") or ways[0],
        command,
        webhook,
        next(each for each in FORMS if each == form),
        default.by if by is None else by,
        _read_bool(node, "pending"),
    )


def _parse_scope(node: Node) -> Scope:
    return Scope({key: _read_text(node, key) for key in PATTERNS if key in node.as_object("this")})


def _list(node: Node, name: str) -> list[Node]:
    """Return the values of a list; a text stands for a list of it."""
    return node.as_list(name) if isinstance(node.value, (list, dict)) else [node]


def _read_text(node: Node, key: str) -> str:
    own = node.as_object(key).get(key)
    return own.as_text(key).strip() if own is not None else ""


def _read_bool(node: Node, key: str) -> bool:
    own = node.as_object(key).get(key)
    if own is not None and not isinstance(own.value, bool):
        raise own.error(f"{key} must be true or false")
    return bool(own and own.value)


def _read_span(node: Node, key: str) -> int:
    own = node.as_object(key).get(key)
    if own is None:
        return 0
    span: int = _parse(own, key, parse_duration)
    if span < 0:
        raise own.error(f"{key} is negative", "use 0 or more")
    return span


def _parse(node: Node, key: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(node.as_text(key))
    except ValueError as error:
        if isinstance(error, BadInput):
            raise
        raise node.error(f"{key}: {error}") from None
