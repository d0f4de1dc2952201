"""Connection settings on their way to Spark's tasks, in an encrypted and authenticated box.

A Spark Connect server may write what clients send to its log. So the settings go through it as JSON in a NaCl
secret box (XSalsa20 and Poly1305). The key is in the archive that is sent to the tasks, which no log shows
(see `task_archive`). There the box becomes `Settings` again when it is unpickled.
"""

import importlib
import json
from typing import TYPE_CHECKING, Any, cast

from jsctl.base.json_text import parse_json
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError, MissingDependency
from jsctl.spark.session import task_archive
from jsctl.spark.session.task_progress import find_context

if TYPE_CHECKING:
    from nacl.secret import SecretBox
    from pyspark.sql import SparkSession


class BoxedSettings:
    """Settings that are encrypted when they are pickled, and are `Settings` when they are unpickled."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __reduce__(self) -> tuple[Any, ...]:
        module, key = task_archive.get_session_key()
        return open_box, (module, seal(self._settings, key))


def prepare_settings_for_tasks(spark: "SparkSession", settings: Settings) -> Settings:
    """Return settings to be pickled for tasks: boxed when they hold a secret and go through a Connect server.

    Only tasks may read the result: in this process it may lack the attributes of Settings.
    """
    if find_context(spark) is not None or not _has_secrets(settings):
        return settings
    return cast(Settings, BoxedSettings(settings))


def seal(settings: Settings, key: bytes) -> bytes:
    """Encrypt settings with a key of 32 bytes. Raises MissingDependency without PyNaCl."""
    return bytes(_create_secret_box(key).encrypt(json.dumps(settings._asdict()).encode()))


def open_box(module: str, box: bytes) -> Settings:
    """Return the settings in a box, in a task. `module` is the one in the archive that holds the key.

    Raises JsctlError when the box was altered or sealed with another key, MissingDependency without PyNaCl.
    """
    task_archive.provide_pynacl()
    secret_box = _create_secret_box(importlib.import_module(module).KEY)
    from nacl.exceptions import CryptoError

    try:
        text = secret_box.decrypt(box)
    except (CryptoError, ValueError):
        raise JsctlError(
            "the connection settings that came with a Spark task cannot be decrypted",
            "they were altered on the way, or come from another session; run the command again",
        ) from None
    fields = parse_json(text)
    files = tuple((path, content) for path, content in fields["files"])
    return Settings(**{**fields, "typed": tuple(fields["typed"]), "files": files})


def _create_secret_box(key: bytes) -> "SecretBox":
    try:
        from nacl.secret import SecretBox
    except ImportError:
        raise MissingDependency(
            "PyNaCl is not installed, and the connection settings are encrypted with it",
            "run: pip install pynacl, with the Python of Spark's executors",
        ) from None
    return SecretBox(key)


def _has_secrets(settings: Settings) -> bool:
    return bool(
        settings.password or settings.token or settings.jwt or settings.seed or settings.files
    ) or any("@" in url for url in (settings.url, settings.socks_proxy))
