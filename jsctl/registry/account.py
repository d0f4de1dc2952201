"""The verbs of `jsctl account`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, group, reads

VERBS: dict[str, Entry] = {
    "info": reads("Show the login, connection and JetStream limits of the account", "nfo"),
    "report": group("Report on the account across all servers", aliases=("rep",)),
    "report connections": reads("Report on the connections of the account", "conn", "connz", "conns"),
    "report statistics": reads("Report what each server does for the account", "stats", "statsz"),
    "tls": reads("Show the certificates of the connected server"),
    "backup": reads("Back up all streams of the account", "snapshot"),
    "restore": changes("Restore the streams of an account"),
}
