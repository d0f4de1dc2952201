"""`audit gather`: what was gathered."""

from jsctl.monitor.audit.gather import Summary
from jsctl.views.result import Field, Result, Section, Sheet


def gathered(path: str, size: int, summary: Summary) -> Result:
    """Show what an archive holds. size: bytes of the file."""
    fields = [
        Field("File", path),
        Field("Size", size, "bytes"),
        Field("Servers", summary.servers, "count"),
        Field("Accounts", summary.accounts, "count"),
        Field("Streams", summary.streams, "count"),
        Field("Answers", summary.endpoints, "count"),
        Field("Profiles", summary.profiles, "count"),
        Field("Refused", summary.failures, "count"),
    ]
    document = {
        "archive": path,
        "bytes": size,
        "servers": summary.servers,
        "accounts": summary.accounts,
        "streams": summary.streams,
        "answers": summary.endpoints,
        "profiles": summary.profiles,
        "refused": summary.failures,
    }
    return Result([Sheet("Archive", [Section("", fields)])], data=document)
