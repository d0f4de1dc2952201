"""The answers of places in a round, as JSON and back. Nothing that the report shows is lost."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import format_rfc3339, seconds_to_ns, to_datetime
from jsctl.jetstream.api import Json
from jsctl.jetstream.shape_check import TIME, Shape, check
from jsctl.jetstream.shapes import CONSUMER_INFO, STATE, STREAM_CONFIG, check_answer, fields
from jsctl.monitor.report.figures.lists import FIGURES
from jsctl.monitor.report.listings import encode_listings, parse_listings
from jsctl.monitor.report.overview import Hosting, Limits, Overview
from jsctl.monitor.report.places import Answers, Place
from jsctl.monitor.server.shapes import check_reply
from jsctl.monitor.stream.rows import ReplicationRow, StreamRow
from jsctl.monitor.trouble import Gap, Trouble

_GAP = ["part", "why", "is_chosen"]
_LIMITS = ["messages", "bytes", "retention"]
_HOSTING = ["leads", "follows", "behind", "offline", "lag"]

_SHAPES: Mapping[str, Any] = {"natural": int, "ns": int, "time": TIME, "[text]": [str]}


def _build_row_shape(kind: str, row: Any) -> tuple[list[str], Shape]:
    """Return the keys of a list's rows, and their shape. Attributes with a default are newer than some
    recordings."""
    stored = [figure for figure in FIGURES[kind] if figure.is_stored]
    kinds = {figure.attribute: _SHAPES.get(figure.kind.rstrip("?"), str) for figure in stored}
    required = [
        one.attribute
        for one in stored
        if one.attribute not in row._field_defaults and (one.key == "active_ns" or one.kind[-1] != "?")
    ]
    return ["context", "domain", *kinds], Shape(
        {**fields(str, "context domain"), **kinds}, ["context", "domain", *required]
    )


_STREAM, _ROW = _build_row_shape("streams", StreamRow)
_LINK, _LINK_ROW = _build_row_shape("replication", ReplicationRow)

_FACTS = Shape(
    {
        "config": Shape(STREAM_CONFIG.fields),
        "state": Shape(STATE.fields, ("messages", "first_seq", "last_seq")),
    },
    ("config", "state"),
)
_OVERVIEW = Shape(
    {
        "at": TIME,
        "links": [_LINK_ROW],
        "consumers": [CONSUMER_INFO],
        "consumed": {"*": _FACTS},
        "gaps": [str],
        "not_checked": [Shape({**fields(str, "part why"), "is_chosen": bool}, _GAP)],
        "limits": {"*": Shape({**fields(int, "messages bytes"), "retention": str}, _LIMITS)},
        "hosting": {"*": Shape(fields(int, " ".join(_HOSTING)), _HOSTING)},
        "settings": {"*": Shape(STREAM_CONFIG.fields)},
    },
    ("streams", "links", "consumed", "gaps", "limits", "hosting", "troubles"),
)


ADVISORY_SHAPE = Shape(
    {**fields(str, "kind domain"), **fields(TIME, "at last received"), "count": int, "facts": Shape({})},
    ("kind", "at", "received", "count", "facts"),
)


class PlaceRound(NamedTuple):
    """A context and domain in one round; see Place. answers: None when it did not answer. advisories: since
    the round before, see AdvisoryLog; None for a place that gets none."""

    context: str
    domain: str
    flags: Sequence[str]
    error: str
    state: str
    answers: Answers | None
    advisories: Sequence[Json] | None = None


def build_round(
    places: Sequence[Place], answers: Sequence[Answers | None], advisories: Sequence[Sequence[Json] | None]
) -> list[PlaceRound]:
    """Return the round of these places, their answers and advisories."""
    return [
        PlaceRound(place.context, place.where, place.flags, place.error, place.state, answer, received)
        for place, answer, received in zip(places, answers, advisories, strict=True)
    ]


def build_round_document(places: Sequence[PlaceRound], at: float) -> Json:
    """Return a round as JSON. at: seconds since 1970."""
    return {
        "at": format_rfc3339(seconds_to_ns(at)),
        "places": [
            {
                "context": place.context,
                "domain": place.domain,
                "flags": list(place.flags),
                "error": place.error,
                "state": place.state,
                **({} if place.answers is None else _encode_answers(place.answers)),
                **({} if place.advisories is None else {"advisories": list(place.advisories)}),
            }
            for place in places
        ],
    }


def parse_place(place: Json) -> PlaceRound:
    """Return one place of a round. Raises KeyError, TypeError, ValueError for a document of another shape."""
    _check_shape(place)
    return PlaceRound(
        str(place["context"]),
        str(place["domain"]),
        [str(flag) for flag in place["flags"]],
        str(place["error"]),
        str(place["state"]),
        _parse_answers(place),
        place.get("advisories"),
    )


def _check_shape(place: Json) -> None:
    """Raise Malformed for a place whose answers have another shape than those of servers."""
    overview, servers = place.get("overview"), place.get("servers")
    for advisory in place.get("advisories") or ():
        check(advisory, ADVISORY_SHAPE)
    if overview is not None:
        check(overview, _OVERVIEW)
        for row in overview["streams"]:
            check({key: value for key, value in row.items() if value is not None}, _ROW)
    for account in (place.get("account"), (overview or {}).get("account")):
        if account:  # it is empty when the login may not ask for it
            check_answer(account, "$JS.API.INFO")
    if servers is not None:
        for kind, replies in (("STATSZ", "statistics"), ("JSZ", "jetstream")):
            for reply in servers[replies]:
                check_reply(reply, kind)


def _parse_answers(place: Json) -> Answers | None:
    overview, account, servers = place.get("overview"), place.get("account"), place.get("servers")
    if overview is None and account is None and servers is None:
        return None
    return Answers(
        None if overview is None else _parse_overview(overview),
        account,
        None if servers is None else (servers["statistics"], servers["jetstream"]),
        listings=parse_listings(place.get("lists") or {}),
    )


def _encode_answers(answers: Answers) -> Json:
    document: Json = {}
    if answers.overview is not None:
        document["overview"] = _encode_overview(answers.overview)
    if answers.servers is not None:
        statistics, jetstream = answers.servers
        document["servers"] = {"statistics": list(statistics), "jetstream": list(jetstream)}
    if answers.listings:
        document["lists"] = encode_listings(answers.listings)
    return document


def _encode_overview(overview: Overview) -> Json:
    return {
        "at": format_rfc3339(overview.at),
        "streams": [_encode_row(row, _STREAM) for row in overview.streams],
        "troubles": {name: [*map(_encode_trouble, troubles)] for name, troubles in overview.troubles.items()},
        "queues": {name: [*map(_encode_trouble, troubles)] for name, troubles in overview.queues.items()},
        "link_troubles": [
            [*key, [*map(_encode_trouble, troubles)]] for key, troubles in overview.link_troubles.items()
        ],
        "login": [*map(_encode_trouble, overview.login)],
        "links": [_encode_row(row, _LINK) for row in overview.links],
        "consumers": None if overview.consumers is None else list(overview.consumers),
        "account": overview.account,
        "consumed": dict(overview.consumed),
        "gaps": [gap.why for gap in overview.gaps],
        "not_checked": [_encode_row(gap, _GAP) for gap in overview.gaps],
        "limits": {name: _encode_row(limits, _LIMITS) for name, limits in overview.limits.items()},
        "hosting": {name: _encode_row(hosting, _HOSTING) for name, hosting in overview.hosting.items()},
        "settings": dict(overview.settings),
    }


def _parse_overview(document: Json) -> Overview:
    return Overview(
        at=to_datetime(document["at"]) if document.get("at") else datetime.fromtimestamp(0, UTC),
        streams=[_parse_stream(row) for row in document["streams"]],
        troubles={name: _parse_troubles(troubles) for name, troubles in document["troubles"].items()},
        queues={name: _parse_troubles(troubles) for name, troubles in (document.get("queues") or {}).items()},
        login=_parse_troubles(document.get("login") or ()),
        link_troubles={
            (str(key[0]), str(key[1]), str(key[2]), str(key[3]), str(key[4])): _parse_troubles(key[5])
            for key in document.get("link_troubles") or ()
        },
        links=[ReplicationRow(**_pick_row(row, _LINK, ReplicationRow)) for row in document["links"]],
        consumers=document["consumers"],
        account=document["account"],
        consumed=document["consumed"],
        gaps=_parse_gaps(document),
        limits={name: Limits(**_pick_values(limits, _LIMITS)) for name, limits in document["limits"].items()},
        hosting={
            name: Hosting(**_pick_values(hosting, _HOSTING)) for name, hosting in document["hosting"].items()
        },
        settings=document.get("settings") or {},
    )


def _encode_trouble(trouble: Trouble) -> list[Any]:
    helps = [[each.verb, list(each.names), list(each.flags), each.purpose] for each in trouble.help]
    return [trouble.words, trouble.bad, trouble.code, trouble.says, helps, trouble.advice]


def _parse_troubles(troubles: Sequence[Sequence[Any]]) -> list[Trouble]:
    """Return troubles; those in recordings of jsctl before codes have none."""
    parsed = []
    for words, bad, *rest in troubles:
        code, says, helps, advice = rest or ("", "", [], "")
        suggestions = [
            Suggestion(str(verb), [*map(str, names)], [*map(str, flags)], "".join(map(str, purpose)))
            for verb, names, flags, *purpose in helps
        ]
        parsed.append(Trouble(str(words), bool(bad), str(code), str(says), suggestions, str(advice)))
    return parsed


def _parse_gaps(document: Json) -> list[Gap]:
    """Return what was not looked at; recordings of jsctl before `not_checked` have sentences alone."""
    if "not_checked" not in document:
        return [Gap("consumers", why) for why in document["gaps"]]
    return [Gap(**_pick_values(gap, _GAP)) for gap in document["not_checked"]]


def _parse_stream(row: Json) -> StreamRow:
    values = _pick_row(row, _STREAM, StreamRow)
    return StreamRow(**{**values, "peers": tuple(values["peers"])})


def _pick_row(row: Json, keys: Sequence[str], kind: Any) -> Json:
    """Return the values of a row; those that have a default are newer than some recordings."""
    return _pick_values(row, [key for key in keys if key in row or key not in kind._field_defaults])


def _encode_row(row: Any, keys: Sequence[str]) -> Json:
    return {key: getattr(row, key) for key in keys}


def _pick_values(row: Mapping[str, Any], keys: Sequence[str]) -> Json:
    return {key: row[key] for key in keys}
