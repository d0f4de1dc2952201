"""The verbs of `jsctl account`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, old_name, reads

VERBS: dict[str, Entry] = {
    "info": reads("Show the login, connection and JetStream limits of the account", "nfo"),
    "report": group(
        "Report on the account across all servers", target="account.report.group:", aliases=("rep",)
    ),
    "report connections": reads("Report on the connections of the account", "conn", "connz", "conns"),
    "report statistics": reads("Report what each server does for the account", "stats", "statsz"),
    "tls": reads("Show the certificates of the connected server"),
    "backup": old_name("backup account", "snapshot"),
    "restore": old_name("backup restore account"),
}
