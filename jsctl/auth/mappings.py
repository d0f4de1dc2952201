"""Subject mappings of accounts (nats-io/jwt: v2/account_claims.go, Mapping)."""

from typing import Any

from jsctl.auth.claims import Json, compute_total_weights, set_or_drop
from jsctl.auth.sharing import check_subject
from jsctl.base.command_lines import build_line
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.config.documents import parse_document

_KEYS = frozenset({"subject", "weight", "cluster"})
_ALL_PERCENT = 100


def list_mappings(nats: Json) -> dict[str, list[Json]]:
    """Return the mappings of an account: source subject -> targets."""
    mappings = nats.get("mappings") or {}
    return {source: list(mappings[source] or ()) for source in sorted(mappings)}


def find_targets(nats: Json, source: str, account: str) -> list[Json]:
    """Return the targets of a source subject. Raises NotFound."""
    targets = list_mappings(nats).get(source)
    if targets is None:
        raise NotFound(
            f"account {account} has no mapping of {source}",
            f"{build_line('auth account mappings ls', account)} lists them",
        )
    return targets


def build_target(subject: str, weight: int, cluster: str) -> Json:
    """Build the target of a mapping. subject: may contain `{{...}}`. Raises BadInput."""
    if not subject or any(not token or token.isspace() for token in subject.split(".")):
        raise BadInput(
            f"{subject!r} is not a valid target", "use a subject, which may contain {{wildcard(1)}}"
        )
    target: Json = {"subject": subject, "weight": weight}
    return {**target, "cluster": cluster} if cluster else target


def set_targets(nats: Json, source: str, targets: list[Json]) -> None:
    """Set the targets of a source in place; an empty list removes it. Raises BadInput for weights above
    100."""
    if targets:
        check_subject(source)
    for cluster, total in compute_total_weights(targets).items():
        if total > _ALL_PERCENT:
            where = f" in cluster {cluster}" if cluster else ""
            raise BadInput(
                f"the targets of {source}{where} add up to {total}%",
                "use weights of at most 100% in total",
            )
    mappings = {**(nats.get("mappings") or {}), source: targets}
    if not targets:
        del mappings[source]
    set_or_drop(nats, "mappings", mappings)


def parse_mappings(text: str, file: str) -> dict[str, list[Json]]:
    """Return mappings from YAML or JSON: source -> list of subject, weight, cluster. Raises BadInput."""
    document = parse_document(text, file).to_json()
    mappings: dict[str, list[Json]] = {}
    for source, targets in document.items():
        if not isinstance(targets, list):
            raise BadInput(
                f"{file}: {source} needs a list of targets", "each with subject, weight and cluster"
            )
        mappings[source] = [_parse_target(target, f"{file}: {source}") for target in targets]
    return mappings


def _parse_target(target: Any, where: str) -> Json:
    if not isinstance(target, dict) or not target.get("subject") or set(target) - _KEYS:
        raise BadInput(f"{where} has an invalid target", "set subject, and optionally weight and cluster")
    weight = target.get("weight", _ALL_PERCENT)
    if not isinstance(weight, int) or not 0 < weight <= _ALL_PERCENT:
        raise BadInput(f"{where}: the weight {weight!r} is not valid", "use 1 to 100")
    return build_target(str(target["subject"]), weight, str(target.get("cluster") or ""))
