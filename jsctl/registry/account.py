"""The verbs of `jsctl account`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb

VERBS: dict[str, Entry] = {
    "info": verb(
        "Show the login, connection and JetStream limits of the account", "account.info:info", "nfo"
    ),
    "report": group("Report on the account across all servers", aliases=("rep",)),
    "report connections": verb(
        "Report on the connections of the account",
        "account.report.connections:connections",
        "conn",
        "connz",
        "conns",
    ),
    "report statistics": verb(
        "Report what each server does for the account",
        "account.report.statistics:statistics",
        "stats",
        "statsz",
    ),
    "tls": verb("Show the certificates of the connected server", "account.tls:tls"),
    "backup": verb("Back up all streams of the account", "account.backup:backup", "snapshot"),
    "restore": verb("Restore the streams of an account", "account.restore:restore"),
}
