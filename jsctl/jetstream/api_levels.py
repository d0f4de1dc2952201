"""API levels: which server version a feature needs (ADR-44)."""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api, Json


class ApiLevel(IntEnum):
    """API levels with something that jsctl uses, by the nats-server version that introduced them (level 3
    came with a patch release of 2.12)."""

    V2_11 = 1
    V2_12 = 2
    V2_14 = 4
    V2_15 = 5


def find_server_version(level: int) -> str:
    """Return the oldest nats-server version with an API level: `2.11` for 1."""
    return ApiLevel(level).name.removeprefix("V").replace("_", ".")


async def require(api: Api, features: Mapping[int, Sequence[str]]) -> None:
    """Raise BadInput when the server lacks the API level of one of these features.

    features: flags or commands by the level that they need. The server is asked only when there are any; a
    login that may not ask is assumed to have every level.
    """
    if not features:
        return
    api_info = (await fetch_account_info(api)).get("api")
    if api_info is None:
        return
    # Servers before 2.11 report no level, and ignore fields that they do not know.
    available = int(api_info.get("level", 0))
    for level, names in sorted(features.items()):
        if level > available:
            raise BadInput(
                f"{', '.join(names)} needs nats-server {find_server_version(level)} (API level {level})",
                f"this one has API level {available}",
            )


async def fetch_account_info(api: Api) -> Json:
    """Fetch the account's limits, usage and API level (INFO); empty when the login may not ask for them."""
    try:
        return await api.call("INFO")
    except JsctlError:
        return {}
