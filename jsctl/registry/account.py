"""The verbs of `jsctl account`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "info": verb(
        "Show the login, connection and JetStream limits of the account", "account.info:info", "nfo"
    ),
    "backup": verb("Back up all streams of the account", "account.backup:backup", "snapshot"),
    "restore": verb("Restore the streams of an account", "account.restore:restore"),
}
