"""What a claim that servers refuse should be instead, as flags; None if a person has to choose.

A repair never allows more than before: a list of allowed subjects, networks or kinds of connections is not
emptied, because an empty one allows everything.
"""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from jsctl.auth.check.subjects import find_subject_problem
from jsctl.auth.claims import Json, as_number, as_text, as_texts, compute_total_weights, get_weight
from jsctl.nats.subjects import overlaps

Flags = Sequence[str] | None

_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_DAY = 86400


def find_valid_rules(rules: Sequence[str], action: str, key: str, flag: str) -> Flags:
    """Return the flags for a list of permissions without the invalid ones; a rule of several subjects becomes
    several rules. action: "pub" or "sub". key: "allow" or "deny"."""
    valid: list[str] = []
    for rule in rules:
        words = rule.split()
        if any(find_subject_problem(word) for word in words):
            continue
        is_queue = action == "sub" and len(words) == 2
        valid += [" ".join(words)] if is_queue else words
    if not valid and key == "allow":
        return None
    return _repeat(flag, valid)


def find_valid_networks(networks: Sequence[str]) -> Flags:
    """Return the flags for source networks: a single address becomes a network of one."""
    valid = []
    for network in networks:
        try:
            valid.append(str(ipaddress.ip_network(network, strict=False)))
        except ValueError:
            continue
    return _repeat("--source-network", valid) if valid else None


def find_valid_times(spans: Sequence[Json]) -> Flags:
    """Return the flags for connection times: `8:00` becomes `08:00:00`."""
    valid = []
    for span in spans:
        ends = [_TIME.fullmatch(as_text(span.get(key))) for key in ("start", "end")]
        if all(ends):
            valid.append("-".join(f"{int(e[1]):02}:{e[2]}:{e[3] or '00'}" for e in ends if e))
    return _repeat("--time", valid) if valid else None


def find_valid_kinds(kinds: Sequence[str], known: Sequence[str]) -> Flags:
    """Return the flags for kinds of connections without those that do not exist."""
    valid = [kind.upper() for kind in kinds if kind.upper() in known]
    return _repeat("--connection", valid) if valid else None


def build_service_flags(urls: Sequence[str]) -> list[str]:
    """Return the flags for an operator's service URLs: of each, the protocol, host and port."""
    texts = []
    for url in urls:
        try:
            parts = urlsplit(url if "://" in url else f"nats://{url}")
            scheme = parts.scheme if parts.scheme in ("nats", "tls", "ws", "wss") else "nats"
            host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
            texts.append(f"{scheme}://{host}:{parts.port}" if parts.port else f"{scheme}://{host}")
        except ValueError:
            continue
    return ["--service", *" --service ".join(texts or [""]).split(" ")]


def find_period(claims: Mapping[str, object]) -> str:
    """Return how long a JWT should be valid if it is signed again: as long as it was, at least a day."""
    issued, expires = as_number(claims.get("iat")), as_number(claims.get("exp"))
    days = round((expires - issued) / _DAY) if 0 < issued < expires else 90
    return f"{max(days, 1)}d"


def find_free_subject(imported: Json, others: Sequence[str]) -> str:
    """Return a subject under which an import does not overlap others. others: their local subjects."""
    subject = as_text(imported.get("subject"))
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", as_text(imported.get("name"))) or "imported"
    candidates = [subject, f"{name}.{subject}", *(f"{name}-{n}.{subject}" for n in range(2, len(others) + 3))]
    return next(c for c in candidates if not any(overlaps(c, other) for other in others))


def share_weights(targets: list[Json]) -> list[Json]:
    """Return a mapping's targets with weights that add up to at most 100% in each cluster, in proportion."""
    totals = compute_total_weights(targets)
    shared = []
    for target in targets:
        total, weight = totals[as_text(target.get("cluster"))], get_weight(target)
        shared.append({**target, "weight": weight if total <= 100 else max(1, weight * 100 // total)})
    return shared


def _repeat(flag: str, values: Sequence[str]) -> list[str]:
    """Return the flag with each value; with an empty one if there are none."""
    return [word for value in as_texts(list(values)) or [""] for word in (flag, value)]
