"""Schemas from a schema registry by their ids: Confluent's API, which Apicurio has below /apis/ccompat/v7.

GET /schemas/ids/{id} answers {"schema": text, "schemaType": kind, "references": [...]}; the kind is missing
for Avro. A reference is {"name", "subject", "version"}; GET /subjects/{subject}/versions/{version} has its
schema. With format=serialized, the schema of Protobuf is a descriptor in base64 instead of its source.

A schema never changes, so that it is fetched once in a process. No error has a secret.
"""

import base64
import contextlib
import functools
import os
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from jsctl.base import loops
from jsctl.base.files import CONFIG_SIZE
from jsctl.base.json_text import parse_json
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied, JsctlError, NotFound, Unreachable
from jsctl.nats import login as nats_login

USER, PASSWORD, TOKEN = "JSCTL_REGISTRY_USER", "JSCTL_REGISTRY_PASSWORD", "JSCTL_REGISTRY_TOKEN"

TIMEOUT = 10.0
"""Seconds without an answer."""
ATTEMPTS = 3
_PAUSE = 0.5  #: seconds before the second attempt, and twice as many before each further one
_MAX_DEPTH = 20  #: of references
_FORGET_UNKNOWN = 60.0  #: seconds after which an unknown id is asked for again
_NO_SCHEMA, _NO_SUBJECT, _NO_VERSION = 40403, 40401, 40402

_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"


NO_LOGIN = Settings(url="")
"""The settings without a login. Those of a registry have a user and a password, or a token."""


class RegistrySchema(NamedTuple):
    """A schema of a registry.

    kind: AVRO, PROTOBUF or JSON. text: as the registry has it, of PROTOBUF a descriptor in base64 if it could
    say so. references: the schemas that it names, by the names that it has for them.
    """

    kind: str
    text: str
    references: "Mapping[str, RegistrySchema]"


class Broken(Unreachable):
    """The registry answers that it failed."""


class UnknownSchema(NotFound):
    """The registry has no schema of an id."""


def read_login(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the login in the environment; references as in contexts (file://, op://) become their values.

    Raises BadInput, and what reading a reference raises.
    """
    user, password, token = (environ.get(name, "") for name in (USER, PASSWORD, TOKEN))
    if token and user:
        raise BadInput(f"{USER} and {TOKEN} cannot be used together", "unset one of them")
    if not user and not token:
        return NO_LOGIN
    settings = loops.run(nats_login.prepare(Settings(user=user, password=password, token=token)))
    return NO_LOGIN._replace(user=settings.user, password=settings.password, token=settings.token)


def _build_authorization(login: Settings) -> str:
    """Return the value of the header Authorization; empty without a login."""
    if login.token:
        return f"Bearer {login.token}"
    if login.user:
        return "Basic " + base64.b64encode(f"{login.user}:{login.password}".encode()).decode()
    return ""


def parse_url(text: str) -> str:
    """Return the address of a registry without a slash at its end. Raises BadInput."""
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query
        has_login = parts.username is not None
    except ValueError:
        is_valid = has_login = False
    if has_login:
        raise BadInput(
            "the address of a schema registry cannot hold a login, as it is shown in places",
            f"set {USER} and {PASSWORD}, or {TOKEN}",
        )
    if not is_valid:
        raise BadInput(
            f"{text!r} is not the address of a schema registry",
            "use one such as http://registry:8081, or http://apicurio:8080/apis/ccompat/v7",
        )
    return text.rstrip("/")


class SchemaRegistry:
    """A registry, and the schemas that it gave. url: as `parse_url` returns it."""

    def __init__(self, url: str, login: Settings = NO_LOGIN) -> None:
        self._url = url
        self._login = login
        self._authorization = _build_authorization(login)
        self._lock = threading.Lock()
        self._schemas: dict[int, RegistrySchema] = {}
        self._versions: dict[str, RegistrySchema] = {}  #: those that others refer to, by their paths
        self._unknown: dict[int, float] = {}

    def fetch(self, id: int) -> RegistrySchema:
        """Return the schema of an id.

        Raises UnknownSchema, Denied, Unreachable, and JsctlError for another answer.
        """
        with self._lock:
            if id in self._schemas:
                return self._schemas[id]
            if time.monotonic() - self._unknown.get(id, float("-inf")) < _FORGET_UNKNOWN:
                raise self._unknown_error(id)
            try:
                schema = self._schemas[id] = self._fetch_schema(f"/schemas/ids/{id}", 0)
            except UnknownSchema:
                self._unknown[id] = time.monotonic()
                raise self._unknown_error(id) from None
            return schema

    def _unknown_error(self, id: int) -> UnknownSchema:
        return UnknownSchema(f"the schema registry {self._url} has no schema {id}")

    def _fetch_schema(self, path: str, depth: int) -> RegistrySchema:
        answer = self._get(path)
        try:
            kind = str(answer.get("schemaType") or "AVRO").upper()
            if kind == "PROTOBUF":  # by itself, it is the source
                with contextlib.suppress(Broken):  # Apicurio 3.3 fails for a message in a package
                    answer = self._get(f"{path}?format=serialized")
            text, listed = str(answer["schema"]), answer.get("references") or []
            references = {str(one["name"]): (str(one["subject"]), int(one["version"])) for one in listed}
        except (KeyError, TypeError, ValueError, AttributeError):
            raise JsctlError(
                f"the answer of {self._url}{path} is not that of a schema registry", "check the address"
            ) from None
        if depth > _MAX_DEPTH:
            raise JsctlError(f"the schema at {self._url}{path} refers to too many others")
        found = {}
        for name, (subject, version) in references.items():
            place = f"/subjects/{quote(subject, safe='')}/versions/{version}"
            if place not in self._versions:
                self._versions[place] = self._fetch_schema(place, depth + 1)
            found[name] = self._versions[place]
        return RegistrySchema(kind, text, found)

    def _get(self, path: str) -> Any:
        """Return the answer to a GET. Repeats what may succeed later."""
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE * 2 ** (attempt - 1))
            try:
                return self._get_once(path)
            except Unreachable as error:
                failure = error
        raise failure

    def _get_once(self, path: str) -> Any:
        from jsctl.base.http_requests import request  # slow to import, and needed only for this

        headers = {"Accept": _ACCEPT}
        if self._authorization:
            headers["Authorization"] = self._authorization
        try:
            status, body = request(self._url + path, headers, TIMEOUT)
        except OSError as error:
            reason = getattr(error, "reason", None) or error
            cause = f"no answer within {TIMEOUT:g}s" if isinstance(reason, TimeoutError) else reason
            raise Unreachable(f"cannot reach the schema registry {self._url}: {cause}") from None
        except ValueError:  # a login with a line break, for one, which the error shows
            raise BadInput(
                f"cannot ask the schema registry {self._url}", f"check {USER} and {TOKEN}"
            ) from None
        if status != 200:
            raise self._build_status_error(path, status, body)
        try:
            if len(body) > CONFIG_SIZE:
                raise ValueError
            return parse_json(body)
        except ValueError:
            raise JsctlError(
                f"the answer of {self._url}{path} is not that of a schema registry", "check the address"
            ) from None

    def _build_status_error(self, path: str, status: int, body: bytes) -> JsctlError:
        if status in (401, 403):
            hint = f"set {USER} and {PASSWORD}, or {TOKEN}"
            if self._authorization:
                hint = f"check {TOKEN if self._login.token else f'{USER} and {PASSWORD}'}"
            return Denied(f"the schema registry {self._url} refuses the login ({status})", hint)
        if status >= 500 or status == 429:
            return Broken(f"the schema registry {self._url} answers with status {status}", "try again later")
        if status == 404:
            code = 0
            with contextlib.suppress(ValueError, KeyError, TypeError):
                code = parse_json(body)["error_code"]
            if code in (_NO_SCHEMA, _NO_SUBJECT, _NO_VERSION):
                return UnknownSchema(f"the schema registry {self._url} has no {path}")
        hint = "check the address; that of Apicurio ends with /apis/ccompat/v7"
        return JsctlError(f"there is no schema registry at {self._url}: GET {path} answers {status}", hint)


@functools.lru_cache(16)
def open_registry(url: str, login: Settings = NO_LOGIN) -> SchemaRegistry:
    """Return the registry of this process, whose schemas it keeps."""
    return SchemaRegistry(url, login)
