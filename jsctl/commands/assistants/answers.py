"""Answers for assistants: of a bounded size, and without secrets."""

import base64
import contextlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jsctl.base.user_folders import expand_home
from jsctl.contexts.settings import SETTINGS
from jsctl.env import Env, strip_logins
from jsctl.errors import JsctlError
from jsctl.render.text import clean_json

MAX_CHARS = 30_000
"""Maximum length of an answer."""

_MAX_TEXT = 4_000
_HIDDEN = "[hidden]"
_MIN_SECRET = 6  #: characters of a secret that is looked for; a shorter one would hide ordinary words
_PATTERNS = re.compile(
    r"(?i:\bS[ACNOUX][A-Z2-7]{56}\b)"  # seeds of NKeys; those in lower case can be read, too
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"  # JWTs
    r"|-----BEGIN [^-]*-----.*?(?:-----+END [^-]*-----+|\Z)"  # keys and creds
    r"|(?<=://)[^/\s@\"']+(?=@)"  # logins in addresses
    r"|(?i:\b(?:bearer|basic) +(?=\S*[\d=])[\w.~+/-]{8,}=*)"
    r"|\bAGE-SECRET-KEY-1[A-Z0-9]+"
    r"|\$2[aby]\$\d\d\$[./\w]{53}",  # bcrypt
    re.DOTALL,
)
_KEYS = [
    f"{kind}{sign}key"
    for kind in ("api", "access", "secret", "private", "signing", "encryption", "shared", "auth")
    for sign in ("", "_", "-")
]
_ALWAYS = [
    *("password", "passwords", "passwd", "passphrase", "passcode", "token", "secret", "secrets"),
    *_KEYS,
]
_ENDS = "|".join(
    [
        *(f"(?<={word})" for word in _ALWAYS),
        *(rf"(?<=(?<![^\W_]){word})" for word in ("pass", "pw", "pwd", "pword", "seed", "bearer", "jwt")),
        *(f"(?-i:(?<=(?<=[a-z0-9]){word}))" for word in ("Pass", "Pw", "Pwd", "Seed", "Jwt")),
    ]
)
"""How the name of a secret ends, ignoring case: in what is always one, or in a word that is nothing else."""

_ASSIGNED = re.compile(
    rf"(?i)(?<![\w-])([\w-]++(?:{_ENDS}))"
    r"(\\?[\"']?\s*(?::?=>?|:)\s*\\?[\"']?)((?<=[\"'])[^\"'\\]+|[^\s\"',;}}\\]+)"
)
"""A secret with its name, as in JSON and in configurations of servers."""

_HEADER = re.compile(
    r"(?i)(?<![a-z])((?:proxy-)?authorization|(?:set-)?cookie)(\\?[\"']?\s*[:=]\s*[\\\"'\[ ]*)[^\r\n\"'\\\]]+"
)
"""A header whose whole value is a login, whatever its form."""

_FLAGGED = re.compile(rf"(?i)(?<!\S)(--[\w-]++(?:{_ENDS}))(\s+[\"']?)(?!-)[^\s\"']{{4,}}")
"""A secret behind a flag of a command line."""

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4}={0,2}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?")
_SECRET_KEY = re.compile(rf"(?i)(?:{_ENDS}|authorization|cookie)\Z")


def collect_secrets(env: Env) -> list[str]:
    """Return the secrets of all contexts, of the command line and of the files that they name, also as JSON
    and addresses have them, the longest first."""
    found: set[str] = set()
    places: list[Any] = []
    for name in env.contexts.names():
        try:
            places.append(env.settings(name))
        except JsctlError:  # a context that cannot be read has no login that is used
            continue
    with contextlib.suppress(JsctlError):
        places.append(env.settings())
    for settings in places:
        for name, setting in SETTINGS.items():
            value = str(getattr(settings, name, "") or "")
            if setting.is_secret:
                found.add(value)
            elif setting.login and setting.kind == "path" and value:
                found.update(_read_lines(value))
        for login in re.findall(r"://([^/@\s]+)@", settings.url):
            found.update(login.split(":")[1:] or [login])
    long = {one for one in found if len(one) >= _MIN_SECRET}
    written = {form for one in long for form in (one, json.dumps(one)[1:-1], quote(one, safe=""))}
    return sorted(written, key=len, reverse=True)


def _read_lines(path: str) -> Iterable[str]:
    try:
        return [line for line in expand_home(Path(path)).read_text("utf-8").split() if len(line) > 40]
    except (OSError, UnicodeError, ValueError):
        return []


def build_answer(value: Any, secrets: Iterable[str] = ()) -> str:
    """Return an answer as text: JSON, or a text as it is; without secrets, of at most MAX_CHARS."""
    value = hide_secrets(value, [*secrets])
    items = 100
    while True:
        bounded = limit_items(value, items)
        text = bounded if isinstance(bounded, str) else json.dumps(bounded, ensure_ascii=False, indent=1)
        if len(text) <= MAX_CHARS or items == 1:
            break
        items = max(1, items // 2)
    if len(text) > MAX_CHARS:
        text = f"{text[:MAX_CHARS]}\n… {len(text) - MAX_CHARS:,} more characters"
    return clean_json(text)


def limit_items(value: Any, items: int) -> Any:
    """Return a value with at most so many items in each list and object, and a last one that says how many
    more there are."""
    if isinstance(value, str):
        if len(value) > (limit := MAX_CHARS if items == 100 and "\n" in value else _MAX_TEXT):
            return f"{value[:limit]} … {len(value) - limit:,} more characters"
        return value
    if isinstance(value, list):
        shown = [limit_items(one, items) for one in value[:items]]
        return [*shown, f"… {len(value) - items:,} more"] if len(value) > items else shown
    if isinstance(value, dict):
        kept = [*value.items()][: max(items, 60)]
        shown_keys = {key: limit_items(one, items) for key, one in kept}
        more = len(value) - len(kept)
        return {**shown_keys, "…": f"{more:,} more"} if more else shown_keys
    return value


def _hide_in_text(text: str, secrets: list[str]) -> str:
    for pattern in (_HEADER, _ASSIGNED, _FLAGGED):
        text = pattern.sub(rf"\1\2{_HIDDEN}", text)
    text = strip_logins(_PATTERNS.sub(_HIDDEN, text))
    for secret in secrets:
        if secret.lower() in text.lower():
            text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
    return text


def _hide_in_payload(encoded: str, secrets: list[str]) -> str:
    """Return base64, as payloads are in JSON, without the secrets of the text in it."""
    try:
        text = base64.b64decode(encoded, validate=True).decode(errors="surrogateescape")
    except ValueError:
        return _hide_in_text(encoded, secrets)
    hidden = _hide_in_text(text, secrets)
    if hidden == text:
        return _hide_in_text(encoded, secrets)
    return base64.b64encode(hidden.encode(errors="surrogateescape")).decode()


def hide_secrets(value: Any, secrets: list[str], *, is_secret: bool = False) -> Any:
    """Return a value without what is, or looks like, a secret. is_secret: whether all texts in it are."""
    if isinstance(value, str):
        if is_secret and value:
            return _HIDDEN
        return _hide_in_payload(value, secrets) if _BASE64.fullmatch(value) else _hide_in_text(value, secrets)
    if isinstance(value, list):
        return [hide_secrets(one, secrets, is_secret=is_secret) for one in value]
    if isinstance(value, dict):
        return {
            hide_secrets(key, secrets): hide_secrets(
                one, secrets, is_secret=is_secret or bool(_SECRET_KEY.search(key))
            )
            for key, one in value.items()
        }
    return value


def find_steps(outcome: Any) -> Any:
    """Return the lines of the steps of a dry run that has steps, as what a doctor sees is never the same;
    otherwise the outcome without times, which move with those that are said as durations."""
    answer = outcome.get("answer", outcome) if isinstance(outcome, dict) else outcome
    if isinstance(answer, dict) and "steps" in answer:
        return [step["line"] for step in answer["steps"]]
    return _TIME.sub("", json.dumps(outcome))
