"""Where jsctl differs from nats on purpose: one table, for `compat`, `lint` and the manual."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Difference(NamedTuple):
    """A case in which a line has another outcome than with nats.

    verbs: that it concerns; empty for all. nats, ours: what each does. write: what to write for the outcome
    of nats, where there is something.
    """

    verbs: Sequence[str]
    nats: str
    ours: str
    write: str


DIFFERENCES: Mapping[str, Difference] = {
    "EXIT_STATUS": Difference(
        (),
        "every failure is status 1",
        "2, 3, 4, 5 and 64 say which kind it is",
        "a test for another status than 0",
    ),
    "REQUEST_UNANSWERED": Difference(
        ("request",),
        "status 0 when nobody answers, or fewer than --replies",
        "status 4",
        "`jsctl compat --` before the verb",
    ),
    "RTT_UNREACHABLE": Difference(
        ("rtt",),
        "status 0 when no server can be reached",
        "status 4",
        "`jsctl compat --` before the verb",
    ),
    "KV_OUTPUT": Difference(
        ("kv put", "kv create", "kv update"),
        "prints the value",
        "prints the key and its revision",
        "`jsctl compat --` before the verb",
    ),
    "RESULT_STATUS": Difference(
        (
            "schema validate",
            "server list",
            "server request accounts",
            "server config reload",
            "context info",
        ),
        "status 0 for an invalid document, fewer servers than expected, an unknown account, a reload that the"
        " server refuses, a context that cannot connect",
        "status 1, for a context 4 or 5",
        "`jsctl compat --` before the verb",
    ),
    "NOTHING_FOUND": Difference(
        ("service list", "server report connections"),
        "status 1 when no service answers, or there is no such connection",
        "status 0, and an empty list",
        "`jsctl compat --` before the verb",
    ),
    "BACKUP_EXISTS": Difference(
        ("backup account", "backup restore account"),
        "status 1 where a backup or a stream of the name exists, and without -f",
        "replaces the backup, and leaves a stream that has all messages of its backup: status 0",
        "`jsctl compat --` before the verb",
    ),
    "EDIT_CONFIG": Difference(
        ("stream edit", "consumer edit"),
        "what the file of --config leaves out takes its default",
        "it stays as it is",
        "`--replace`",
    ),
    "EDIT_NOTHING": Difference(
        ("stream edit", "consumer edit", "kv edit", "object edit"),
        "without a flag for what to change: status 0",
        "refused, status 64",
        "`jsctl compat --` before the verb",
    ),
    "FIND_SUBJECT": Difference(
        ("stream find",),
        "--subject finds streams one of whose subjects lies within it",
        "those that store any message on it",
        "`jsctl compat --` before the verb",
    ),
    "DATA_LOSS": Difference(
        ("stream edit", "kv edit", "object edit"),
        "-f deletes messages that a new limit has no room for",
        "refused, status 64",
        "`--allow-data-loss`",
    ),
    "CONSUMER_EXISTS": Difference(
        ("consumer add", "consumer copy"),
        "changes a consumer that exists, also the one that is copied",
        "refused, status 1; 64 for the same name",
        "`--update`; `jsctl compat --` before copy, which has no such flag",
    ),
    "EXCLUSIVE_FLAGS": Difference(
        ("subscribe", "reply", "consumer add"),
        "takes one of --start-sequence and --last, --echo and BODY, --backoff and --wait",
        "refused, status 64",
        "`jsctl compat --` before the verb, or only the flag that nats takes",
    ),
    "LOOP_STDIN": Difference(
        ("publish", "request", "kv put", "kv create", "kv update"),
        "without a body, takes the rest of the list that a loop reads",
        "refused, status 64",
        "`-` as the body; `</dev/null` for an empty one",
    ),
    "PUBLISH_INVALID": Difference(
        ("publish", "request"),
        "sends to a subject with wildcards, and takes --schedule-dest without a time",
        "refused, status 64",
        "`jsctl compat --` before the verb",
    ),
    "UNKNOWN_KEYS": Difference(
        ("stream add", "stream edit", "consumer add", "consumer edit"),
        "leaves out the keys of --config that it does not know",
        "refused, status 64: they are typing errors",
        "`jsctl compat --` before the verb",
    ),
    "KV_HISTORY": Difference(
        ("kv add", "kv edit"),
        "refuses a --history above 64",
        "takes it, and warns",
        "`jsctl compat --` before the verb",
    ),
    "BENCH_STREAM": Difference(
        (
            "bench js pub sync",
            "bench js pub async",
            "bench js pub batch",
            "bench js pub fast",
            "bench js ordered",
            "bench js consume",
            "bench js fetch",
            "bench kv put",
        ),
        "--purge and --create empty and change any stream",
        "for a stream that no benchmark created they ask, and are refused without a terminal, status 64",
        "`--force`",
    ),
    "GO_TEMPLATES": Difference(
        ("publish", "request", "reply", "service request"),
        "fills in all templates of Go, with conditions, loops and `printf`",
        "fills in the functions that `publish --help` lists; others stay as they are, with a warning",
        "what the shell makes of it",
    ),
    "SCHEMA_REQUIRED": Difference(
        ("schema validate",),
        "a configuration is valid with retention, storage, replicas and limits only",
        "it is valid as the server takes it, which sets what is left out",
        "the keys that `stream info --json` shows",
    ),
    "CHECK_OUTCOME": Difference(
        ("server check credential", "server check stream"),
        "credentials that expired are OK without a threshold, and with one all that expire are critical; a"
        " stream with replicas is critical without --peer-expect",
        "expired ones are critical, others by their threshold; OK",
        "`--peer-expect`; nothing else, since nats is wrong here",
    ),
}
"""The differences by code."""
