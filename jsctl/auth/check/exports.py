"""Checks of an account's exports (nats-io/jwt: v2/exports.go)."""

from collections.abc import Iterator
from functools import partial

from jsctl.auth.check.fixes import build_export_line
from jsctl.auth.check.model import Finding, Owner
from jsctl.auth.check.subjects import find_info_problem, find_subject_problem, has_wildcards, is_contained
from jsctl.auth.claims import Json, as_number, as_object, as_objects, as_text
from jsctl.auth.records import Account

RESPONSES = ("Singleton", "Stream", "Chunked")


def check_exports(account: Account, owner: Owner) -> Iterator[Finding]:
    """Yield the problems of each export, and of exports that overlap."""
    for index, export in enumerate(account.exports):
        yield from _check_export(export, f"exports[{index}]", owner)
    yield from _check_overlaps(account, owner)


def _check_export(export: Json, path: str, owner: Owner) -> Iterator[Finding]:
    subject, kind = as_text(export.get("subject")), as_text(export.get("type"))
    remove = build_export_line(owner, "rm", subject)
    edit = partial(build_export_line, owner, "edit", subject)
    if kind not in ("stream", "service"):
        yield owner.build_error(
            "export-type", f"{path}.type", f"export {subject!r} is neither a stream nor a service", remove
        )
    if problem := find_subject_problem(subject):
        yield owner.build_error(
            "export-subject",
            f"{path}.subject",
            f"export subject {subject!r} {problem}",
            remove * bool(subject),
        )
        return
    response = as_text(export.get("response_type"))
    if response and (kind == "stream" or response not in RESPONSES):
        reason = "streams have none" if kind == "stream" else f"use one of {', '.join(RESPONSES)}"
        yield owner.build_error(
            "export-response-type",
            f"{path}.response_type",
            f"export {subject!r} has response type {response!r}; {reason}",
            edit("--response-type", _find_response_type(response, kind)),
        )
    if kind == "stream" and export.get("allow_trace"):
        yield owner.build_error(
            "export-trace",
            f"{path}.allow_trace",
            f"export {subject!r} is a stream and cannot allow traces",
            edit("--no-allow-trace"),
        )
    yield from _check_threshold(export, path, owner)
    if export.get("service_latency") is not None:
        yield from _check_latency(export, path, owner)
    if problem := _find_position_problem(export, subject):
        yield owner.build_error(
            "export-token-position",
            f"{path}.account_token_position",
            f"export {subject!r}: {problem}",
            build_export_line(owner, "edit", subject, "--token-position", _find_star_position(subject)),
        )
    if problem := find_info_problem(export):
        fix = edit("--description" if "description" in problem else "--url", "")
        yield owner.build_error("export-info", path, f"export {subject!r}: {problem}", fix)


def _find_response_type(response: str, kind: str) -> str:
    """Return the value of --response-type for a response type that is not valid; a stream has the default."""
    is_known = kind == "service" and response.capitalize() in RESPONSES
    return response.lower() if is_known else RESPONSES[0].lower()


def _check_threshold(export: Json, path: str, owner: Owner) -> Iterator[Finding]:
    subject = as_text(export.get("subject"))
    threshold = as_number(export.get("response_threshold"))
    if threshold < 0 or (threshold and export.get("type") != "service"):
        reason = "is negative" if threshold < 0 else "is for services only"
        yield owner.build_error(
            "export-threshold",
            f"{path}.response_threshold",
            f"export {subject!r}: the response threshold {reason}",
            build_export_line(owner, "edit", subject, "--response-threshold", "0"),
        )


def _check_latency(export: Json, path: str, owner: Owner) -> Iterator[Finding]:
    subject = as_text(export.get("subject"))
    latency = as_object(export.get("service_latency"))
    results, sampling = as_text(latency.get("results")), as_number(latency.get("sampling"))
    problem = ""
    if export.get("type") != "service":
        problem = "only services have their latency measured"
    elif not 0 <= sampling <= 100:
        problem = f"the latency sampling of {sampling}% is not between 1 and 100"
    elif reason := find_subject_problem(results):
        problem = f"the latency subject {results!r} {reason}"
    elif has_wildcards(results):
        problem = f"the latency subject {results!r} has wildcards"
    if problem:
        fix = build_export_line(owner, "edit", subject, "--latency", "")
        if export.get("type") == "service" and not 0 <= sampling <= 100 and not find_subject_problem(results):
            fix = build_export_line(owner, "edit", subject, "--sampling", "100")
        yield owner.build_error(
            "export-latency", f"{path}.service_latency", f"export {subject!r}: {problem}", fix
        )


def _find_position_problem(export: Json, subject: str) -> str:
    position, tokens = as_number(export.get("account_token_position")), subject.split(".")
    if not position:
        return ""
    if not has_wildcards(subject):
        return "an account token position needs a subject with a wildcard"
    if not 1 <= position <= len(tokens):
        return f"account token position {position} is not between 1 and {len(tokens)}, the number of tokens"
    if tokens[position - 1] != "*":
        return f"account token position {position} is {tokens[position - 1]!r}, but must be a *"
    return ""


def _find_star_position(subject: str) -> str:
    tokens = subject.split(".")
    return str(tokens.index("*") + 1) if "*" in tokens else "0"


def _check_overlaps(account: Account, owner: Owner) -> Iterator[Finding]:
    """Yield the exports that lie within another export of the same kind."""
    exports = as_objects(account.nats.get("exports"))
    for index, export in enumerate(exports):
        subject, kind = as_text(export.get("subject")), as_text(export.get("type"))
        for other_index, other in enumerate(exports):
            other_subject = as_text(other.get("subject"))
            same_kind = (export.get("type") == "service") == (other.get("type") == "service")
            # Of two identical exports, only the second is reported.
            is_duplicate = is_contained(other_subject, subject) and other_index > index
            if (
                index != other_index
                and same_kind
                and subject
                and is_contained(subject, other_subject)
                and not is_duplicate
            ):
                yield owner.build_error(
                    "export-overlap",
                    f"exports[{index}].subject",
                    f"{kind or 'export'} {subject!r} is already exported as {other_subject!r}",
                    build_export_line(owner, "rm", subject),
                )
                break
