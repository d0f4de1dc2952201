"""Files that commands read and write; a file is written completely or not at all.

This file is long because reading, writing and temporary files share how errors are named.
"""

import contextlib
import errno
import io
import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from jsctl.base import posix
from jsctl.base.signals import interrupt_handler
from jsctl.base.user_folders import expand_home
from jsctl.errors import DISK_ERRORS, BadInput, JsctlError

PRIVATE = 0o600
SMALL_SIZE = 1 << 20
"""Maximum number of bytes of a context, a key or a certificate."""
CONFIG_SIZE = 16 << 20
"""Maximum number of bytes of a configuration."""
COPY_SIZE = 128 << 20
"""Maximum number of bytes of a pipe or a device that is read as a whole."""
PIPE_SECONDS = 3.0
"""How many seconds to wait until the other end of a named pipe is opened."""
TEMPORARY = ".jsctl-"
"""The prefix of the names of files that a killed process may leave."""
SEED = r"S[A-Z][A-Z2-7]{50,}"
"""Matches the seed of a key."""


def resolve_path(path: Path) -> Path:
    """Return a path without symbolic links. Raises OSError for one that leads to itself."""
    target = Path(os.path.realpath(path))  # Path.resolve raises RuntimeError
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def open_pipe(path: str, flags: int) -> int:
    """Open a file as `os.open` does, as an `opener` for `open`. Raises OSError.

    For a named pipe, wait at most PIPE_SECONDS until its other end is opened.
    """
    if not Path(path).is_fifo():
        return os.open(path, flags)
    ends: list[int | OSError] = []

    def open_end() -> None:
        try:
            ends.append(os.open(path, flags))
        except OSError as error:
            ends.append(error)

    waiting = threading.Thread(target=open_end, daemon=True)
    waiting.start()
    waiting.join(PIPE_SECONDS)
    is_alone = waiting.is_alive()
    if is_alone:
        os.close(os.open(path, os.O_RDWR | posix.NONBLOCK))  # opens the other end, so that the thread ends
        waiting.join()
    if isinstance(ends[0], OSError):
        raise ends[0]
    if is_alone:
        os.close(ends[0])
        raise OSError(errno.ETIMEDOUT, "nobody opens the other end of this named pipe", path)
    return ends[0]


def write_atomically(
    path: Path, data: bytes | str, *, mode: int | None = PRIVATE, durable: bool = True
) -> None:
    """Replace a file with one that holds `data`; text is written as UTF-8.

    See `open_atomically` for the arguments and what is guaranteed. Raises OSError.
    """
    with open_atomically(path, mode=mode, durable=durable) as file:
        file.write(data.encode(errors="backslashreplace") if isinstance(data, str) else data)


@contextlib.contextmanager
def naming_write_errors(path: str | Path = "") -> Iterator[None]:
    """Raise JsctlError, with the path, for an OSError in the block. path: empty for that of the error."""
    try:
        yield
    except OSError as error:
        raise JsctlError(f"cannot write {path or error.filename}: {error.strerror}") from None


_DESCRIPTOR = r"/dev/(?:std(out|err)|fd/(\d+))|/proc/self/fd/(\d+)"
"""Matches the path of a descriptor of this process."""


def is_replaced(path: Path) -> bool:
    """Return whether there is a file or folder that writing to `path` replaces. A pipe, a device and a
    descriptor of this process (/dev/stdout, `>(...)`) are written to instead, whatever is behind it."""
    return not re.fullmatch(_DESCRIPTOR, str(path)) and (path.is_file() or path.is_dir())


def open_in_place(path: Path) -> BinaryIO | None:
    """Open what is not replaced but written to; None for another path. Raises OSError.

    A descriptor continues where it is: the file of a redirection may hold output of others.
    """
    if match := re.fullmatch(_DESCRIPTOR, str(path)):
        stream, *numbers = match.groups()
        number = {"out": 1, "err": 2}.get(stream) or int(next(filter(None, numbers)))
        return os.fdopen(os.dup(number), "wb")
    target = resolve_path(path)
    status = _get_status(target)
    if status is None or stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return None
    return open(target, "wb", opener=open_pipe)


@contextlib.contextmanager
def open_atomically(path: Path, *, mode: int | None = PRIVATE, durable: bool = True) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of `path` when the block ends without an error.

    A reader sees the old file or the new one. When the block or the write fails, the old file stays and
    nothing else is left. A symbolic link stays a link. What `is_replaced` says is not is written to.

    Args: mode: permissions of the new file: PRIVATE for what may hold a secret, from its first moment. None
    for any other file: those of the replaced one; without one, what the umask allows. durable: wait until the
    file is on disk, so that it is complete even after a power failure. Without this, many small files are
    written several times as fast.

    Raises OSError.
    """
    if (kept := open_in_place(path)) is not None:
        with kept:
            yield kept
        return
    target = resolve_path(path)
    replaced = _get_status(target)
    if mode == PRIVATE:
        sweep(target.parent)
    temporary = target.with_name(f"{_build_temporary_prefix()}{os.getpid()}-{os.urandom(6).hex()}")
    if mode is None and replaced is not None:
        mode = stat.S_IMODE(replaced.st_mode)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                posix.set_mode(handle, mode)  # the umask may have removed more
            yield file
            file.flush()
            if durable:
                os.fsync(handle)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not error.filename:
            error.filename = str(path)  # the error of a full disk names no file
        raise
    if durable:
        sync_folder(target.parent)


@contextlib.contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a folder that only this user can read, which is removed at the end, with those that killed
    processes left, unless `keep_folder` was called.

    prefix: of its name. parent: by default the folder for temporary files.
    """
    import tempfile  # 5 ms with shutil

    parent = parent or Path(tempfile.gettempdir())
    remove_leftovers(parent, prefix)
    with removing(Path(tempfile.mkdtemp(prefix=prefix, dir=parent))) as folder:
        yield folder


@contextlib.contextmanager
def removing(folder: Path) -> Iterator[Path]:
    """Remove a new folder at the end of the block, unless `keep_folder` was called. If this process is
    killed, `remove_leftovers` does it."""
    lock, key = posix.open_folder(folder), folder.resolve()
    posix.lock(lock)
    (folder / _UNFINISHED).touch()
    _locks[key] = lock
    try:
        yield folder
    finally:
        if (folder / _UNFINISHED).exists():
            _remove(folder)
        del _locks[key]
        os.close(lock)


def keep_folder(folder: Path) -> None:
    """Let a folder stay that `removing` or `temporary_folder` would remove."""
    (folder / _UNFINISHED).unlink(missing_ok=True)


_UNFINISHED = ".unfinished"
"""The name of a file in a folder that is to be removed."""

_locks: dict[Path, int] = {}
"""The open, locked folders that `removing` is to remove."""


def list_locks(folder: Path) -> list[int]:
    """Return the descriptor to pass to a process that uses a temporary folder, if this is one: it is in
    use, and stays, until that process ends, too."""
    key = folder.resolve()
    return [_locks[key]] if key in _locks and os.name != "nt" else []


def remove_leftovers(parent: Path, prefix: str) -> None:
    """Remove this user's folders whose names begin with a prefix, that killed processes left to be removed,
    and that no process has locked.

    Without locks (Windows) they stay, as they may be in use.
    """
    for folder in parent.glob(f"{prefix}*") if posix.has_locks() else ():
        with contextlib.suppress(OSError):  # another user's, in use, or gone
            handle = posix.open_folder(folder)
            try:
                posix.lock(handle, wait=False)
                if posix.is_own(os.fstat(handle)) and (folder / _UNFINISHED).exists():
                    _remove(folder)
            finally:
                os.close(handle)


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # it is gone
        (folder / _UNFINISHED).touch()  # what cannot be removed now is removed by the next run


def _build_temporary_prefix() -> str:
    """Return the prefix of this machine's temporary files; the process id follows."""
    import platform  # slow to import
    import zlib

    return f"{TEMPORARY}{zlib.crc32(platform.node().encode()):08x}-"


def sweep(folder: Path) -> None:
    """Remove the files that killed processes of this machine left in a folder, as they may hold secrets."""
    prefix = _build_temporary_prefix()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(prefix):
                continue
            number = entry.name.removeprefix(prefix).partition("-")[0]
            with contextlib.suppress(OSError, OverflowError):  # another user's, or gone
                if number.isdecimal() and not is_alive(int(number)):
                    Path(entry.path).unlink()


def is_alive(pid: int) -> bool:
    """Return whether a process of this machine runs; always True on Windows, which cannot be asked."""
    if os.name == "nt":  # where signal 0 is ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return True


def read_input(path: str, stdin: TextIO) -> str:
    """Return the text of a configuration file, or of `stdin` for `-`; `~` is the home folder.

    Raises BadInput, also for more than CONFIG_SIZE bytes.
    """
    if path != "-":
        return read_text(expand_home(path), "", CONFIG_SIZE)
    binary = getattr(stdin, "buffer", None)  # the stdin of a test may have none
    with interrupt_handler():
        data = binary.read(CONFIG_SIZE + 1) if binary else stdin.read(CONFIG_SIZE + 1).encode()
    if len(data) > CONFIG_SIZE:
        raise BadInput(f"cannot read stdin: it has more than {CONFIG_SIZE:,} bytes")
    return _decode(data, "stdin", "strict")


def read_text(
    path: Path, kind: str = "", limit: int = SMALL_SIZE, *, regular: bool = False, errors: str = "strict"
) -> str:
    """Return the text of a file of at most `limit` bytes. See `read_bytes`."""
    data = read_bytes(path, kind, limit, regular=regular)
    return _decode(data, f"{kind}{' ' * bool(kind)}{escape_path(path)}", errors)


def _decode(data: bytes, label: str, errors: str) -> str:
    try:
        return data.decode(errors=errors).replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise BadInput(f"cannot read {label}: it is not text") from None


def read_bytes(path: Path, kind: str = "", limit: int = SMALL_SIZE, *, regular: bool = False) -> bytes:
    """Return the content of a file of at most `limit` bytes, which is opened once.

    A pipe or a device is read once in a process, as it has its content once: `--creds <(vault read ...)`,
    which each connection needs again.

    Args: kind: what errors call the file, such as "context", before its path. regular: refuse pipes and
    devices, in files that nobody named but jsctl found.

    Raises BadInput for a file that is missing or larger.
    """
    label = f"{kind}{' ' * bool(kind)}{escape_path(path)}"
    if not regular and (known := _from_pipes.get(_identify(path))) is not None:
        return known
    with open_input(path, label, regular=regular) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            limit = min(limit, COPY_SIZE)
        with interrupt_handler():
            data = file.read(min(status.st_size, limit) + 1)  # read() allocates all of it before it reads
            if len(data) > status.st_size:  # the file grows, is in /proc, or is a pipe
                buffer = io.BytesIO(data)
                buffer.seek(len(data))
                buffer.writelines(_read_blocks(file, limit + 1 - len(data)))
                data = buffer.getvalue()
    if len(data) > limit:
        raise BadInput(f"cannot read {label}: it has more than {limit:,} bytes")
    if not stat.S_ISREG(status.st_mode):
        _from_pipes[str(path), status.st_dev, status.st_ino] = data
    return data


_from_pipes: dict[tuple[str, int, int], bytes] = {}
"""What pipes and devices had, by path, device and inode."""


def _identify(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return "", 0, 0
    return str(path), status.st_dev, status.st_ino


def _read_blocks(file: io.BufferedReader, size: int) -> Iterator[bytes]:
    """Yield at most `size` bytes, in blocks."""
    while size and (block := file.read1(min(size, 1 << 20))):
        yield block
        size -= len(block)


@contextlib.contextmanager
def open_seekable(path: Path) -> Iterator[io.BufferedReader | io.BufferedRandom]:
    """Yield a file, open for reading at any position: for a pipe, a copy of what it has. Raises BadInput,
    also for a pipe that has more than COPY_SIZE bytes.
    """
    with open_input(path) as file:
        if is_regular(file):
            yield file
            return
        import tempfile

        with tempfile.TemporaryFile() as copy:
            with interrupt_handler():
                copy.writelines(_read_blocks(file, COPY_SIZE + 1))
            if copy.tell() > COPY_SIZE:
                raise BadInput(f"cannot read {escape_path(path)}: it has more than {COPY_SIZE:,} bytes")
            copy.seek(0)
            yield copy


@contextlib.contextmanager
def open_input(path: Path, label: str = "", *, regular: bool = False) -> Iterator[io.BufferedReader]:
    """Yield a file, open for reading. label: its name in errors; empty for its path. regular: see
    `read_bytes`. Raises BadInput.
    """
    label = label or escape_path(path)
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        flags = os.O_RDONLY | posix.CLOEXEC
        handle = os.open(path, flags | posix.NONBLOCK) if regular else open_pipe(str(path), flags)
        with os.fdopen(handle, "rb") as file:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if regular and not is_regular(file):
                raise BadInput(f"cannot read {label}: it is not a regular file")
            yield file
    except OSError as error:
        raise BadInput(f"cannot read {label}: {error.strerror}") from None
    except ValueError:  # NUL, or an unpaired surrogate
        raise BadInput(f"cannot read {label}: it is not a valid path") from None


def is_regular(file: BinaryIO) -> bool:
    """Return whether an open file is a regular one, which has its content for every reader."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


_SEED_SHOWN = "a seed in place of the path of its file"


def escape_path(path: Path) -> str:
    """Return a path in a form that can be written anywhere: unpaired surrogates are escaped, and a seed that
    was given in its place is not shown."""
    text = str(path).encode(errors="backslashreplace").decode().replace("\0", "\\0")
    return _SEED_SHOWN if re.fullmatch(SEED, path.name) else text


def write_output(path: str, text: str) -> None:
    """Replace the file that a flag such as --output names; `~` is the home folder. Raises BadInput."""
    with open_output(path) as file:
        file.write(text.encode(errors="backslashreplace"))


@contextlib.contextmanager
def open_output(path: str, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """Yield a file to write, as `open_atomically` does, for the path that a flag names.

    `~` is the home folder. mode: see `open_atomically`. Raises BadInput for a path that cannot be written to,
    JsctlError when the disk takes no more.
    """
    target = expand_home(path)
    sweep(target.parent)
    try:
        with open_atomically(target, mode=mode) as file:
            yield file
    except OSError as error:
        kind = JsctlError if error.errno in DISK_ERRORS else BadInput
        raise kind(f"cannot write {path}: {error.strerror}") from None


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder (of new, renamed and removed files) are on disk. Raises OSError."""
    if os.name == "nt":  # which opens no folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_temporary(name: str) -> bool:
    """Return whether a file of this name was left by a killed atomic write or backup."""
    return name.startswith(TEMPORARY)


def _get_status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
