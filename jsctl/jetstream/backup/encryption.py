"""Files of backups that are encrypted with age (https://age-encryption.org/v1): NAME becomes NAME.age.

What is read is known to be as it was written: age authenticates each 64 KiB before it yields them, and the
end.
"""

import importlib
import io
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from jsctl.base.files import read_text
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput, MissingDependency

ENDING = ".age"
VARIABLE = "JSCTL_IDENTITY"
_BLOCK = 1 << 16


class KeyMissing(BadInput):
    """A backup is encrypted, and the key that opens it is not at hand."""


@dataclass(slots=True)
class Keys:
    """The identities of a file, which is read when the first encrypted backup is opened; None for no file."""

    path: Path | None = None
    _identities: list[Any] = field(default_factory=list)

    def read(self, backup: Path) -> list[Any]:
        """Return the identities. backup: what needs them. Raises BadInput, MissingDependency."""
        if self.path is None:
            raise KeyMissing(
                f"the backup in {backup} is encrypted",
                f"name the file of its key with --identity or {VARIABLE}",
            )
        if not self._identities:
            parse = load_age().x25519.Identity.from_str
            self._identities = list(_parse_lines(read_text(self.path, "identity"), parse, str(self.path)))
        return self._identities


NO_KEYS = Keys()


def parse_recipients(values: Sequence[str]) -> tuple[str, ...]:
    """Return public keys; a value that is none is the path of a file with one a line. Raises BadInput."""
    if not values:
        return ()
    parse, keys = load_age().x25519.Recipient.from_str, list[str]()
    for value in values:
        is_key = value.startswith("age1")
        text = value if is_key else read_text(expand_home(value), "public keys")
        keys += map(str, _parse_lines(text, parse, "--encrypt-to" if is_key else value))
    return tuple(keys)


def load_age() -> Any:
    """Return the package that knows age. Raises MissingDependency."""
    try:
        return importlib.import_module("pyrage")
    except ImportError:
        raise MissingDependency(
            "encrypted backups need the package pyrage", "run: pip install 'jsctl[age]'"
        ) from None


def _parse_lines(text: str, parse: Callable[[str], Any], source: str) -> Iterator[Any]:
    """Yield the keys of a text, one a line. Never names a line: it may be a secret one."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    kind = "public key" if "Recipient" in repr(parse) else "secret key"
    if not lines:
        raise BadInput(f"{source} has no {kind} of age", "age-keygen makes a pair")
    age = load_age()
    for number, line in enumerate(lines, 1):
        try:
            yield parse(line)
        except (age.RecipientError, age.IdentityError):
            raise BadInput(
                f"key {number} of {source} is not a valid {kind} of age", "age-keygen makes a pair"
            ) from None


def encrypt(data: bytes, recipients: Sequence[str]) -> bytes:
    """Return the age file of `data`."""
    return bytes(load_age().encrypt(data, _load_recipients(recipients)))


def decrypt(data: bytes, keys: Keys, name: str, backup: Path) -> bytes:
    """Return what an age file holds. Raises KeyMissing, and BadInput for one that was changed."""
    identities = keys.read(backup)
    try:
        return bytes(load_age().decrypt(data, identities))
    except load_age().DecryptError as error:
        raise _explain(error, keys, name, backup) from None


def _load_recipients(recipients: Sequence[str]) -> list[Any]:
    return [load_age().x25519.Recipient.from_str(key) for key in recipients]


def _explain(error: Exception, keys: Keys, name: str, backup: Path) -> BadInput:
    label = f"{name}{ENDING} in {backup}"
    if str(error) == "No matching keys found":
        return KeyMissing(
            f"no key in {keys.path} opens {label}", "name the file of its key, or use another backup"
        )
    return BadInput(f"{label} is damaged: {str(error).splitlines()[0]}", "use another backup")


class EncryptingFile:
    """A new file that is encrypted while it is written; see `create_file`."""

    def __init__(self, raw: IO[bytes], recipients: Sequence[str]) -> None:
        self._raw = raw
        self._error: Exception | None = None
        age, keys = load_age(), _load_recipients(recipients)
        source, sink = os.pipe()
        self._sink = os.fdopen(sink, "wb", 0)

        def run() -> None:
            with os.fdopen(source, "rb", _BLOCK) as plain:  # what is written after an error gets EPIPE
                try:
                    age.encrypt_io(plain, _Noting(raw, self), keys)
                except Exception as error:
                    self._error = self._error or error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`. Raises OSError."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._sink.write(view) :]
        except BrokenPipeError:
            self._end()
            raise
        return len(data)

    def flush(self) -> None:
        """Do nothing: `close` writes what is left."""

    def fileno(self) -> int:
        """Return the descriptor of the encrypted file."""
        return self._raw.fileno()

    def close(self) -> None:
        """Write the end, and wait until the file is on disk. Raises OSError."""
        if self._raw.closed:
            return
        try:
            self._sink.close()
            self._end()
            self._raw.flush()
            os.fsync(self._raw.fileno())
        finally:
            self._raw.close()

    def __enter__(self) -> "EncryptingFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(self, error: OSError) -> None:
        """Keep why the file cannot be written."""
        self._error = self._error or error

    def _end(self) -> None:
        self._thread.join()
        if self._error is not None:
            raise self._error


@dataclass(slots=True)
class _Noting:
    """A file whose errors of writing are kept: pyrage makes other ones of them."""

    raw: IO[bytes]
    file: EncryptingFile

    def write(self, data: bytes) -> int:
        try:
            return self.raw.write(data)
        except OSError as error:
            self.file.note(error)
            raise

    def flush(self) -> None:
        self.raw.flush()


def create_file(path: Path, recipients: Sequence[str], opener: Any = None) -> IO[bytes]:
    """Create a file; with recipients, what is written to it is encrypted for them. Raises OSError."""
    raw = cast(IO[bytes], open(path, "xb", opener=opener))  # noqa: SIM115
    try:
        return cast(IO[bytes], EncryptingFile(raw, recipients)) if recipients else raw
    except BaseException:
        raw.close()
        raise


@contextmanager
def opening_decrypted(file: IO[bytes], keys: Keys, name: str, backup: Path) -> Iterator[IO[bytes]]:
    """Yield what an age file holds, as a file. Reading it raises KeyMissing, BadInput."""
    identities, age, errors = keys.read(backup), load_age(), list[Exception]()
    source, sink = os.pipe()

    def run() -> None:
        with suppress(BrokenPipeError), os.fdopen(sink, "wb", 0) as plain:  # nobody reads on
            try:
                age.decrypt_io(file, plain, identities)
            except Exception as error:
                errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    pipe = _Decrypted(source, thread, lambda: _explain(errors[0], keys, name, backup) if errors else None)
    thread.start()
    try:
        with io.BufferedReader(pipe, 1 << 20) as plain:
            yield plain
    finally:
        thread.join()


class _Decrypted(io.FileIO):
    """The reading end of a pipe, whose end is one only if the thread that writes to it met no error."""

    def __init__(
        self, source: int, thread: threading.Thread, find_error: Callable[[], Exception | None]
    ) -> None:
        super().__init__(source, "rb")
        self._thread, self._find_error = thread, find_error

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer) or 0
        if not size:
            self._thread.join()
            if error := self._find_error():
                raise error
        return size
