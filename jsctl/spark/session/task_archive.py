"""The archive of packages that jsctl sends to the tasks of a Spark session on other machines.

Executors need Python, PySpark (which Spark brings), and pyarrow. The archive holds the Python files of jsctl
and of the packages that it needs in a task, and one module with the key of this session's settings (see
`settings_box`).

PyNaCl, which signs logins and opens boxed settings, has compiled parts, which Python imports only from files.
The archive carries it as data. `provide_pynacl` unpacks it in a task whose Python lacks it, provided that the
Python version, the operating system and the processor are those of the machine that wrote the archive. For
other executors, PyNaCl has to be installed there. It makes the archive larger (2.1 MB instead of 0.6) and
takes 0.2 s to compress, once a session.
"""

import atexit
import contextlib
import functools
import importlib
import platform
import secrets
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import jsctl
from jsctl.base.files import temporary_folder
from jsctl.errors import MissingDependency
from jsctl.spark.session.task_progress import find_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKAGES = ("jsctl", "nats", "nkeys")
_SUFFIXES = (".py", ".tsv", ".yaml")
"""Of code, and of the tables that it reads."""
_COMPILED_PACKAGES = ("nacl", "_cffi_backend")
_COMPILED_FOLDER = "jsctl_compiled"
_PLATFORM_FILE = f"{_COMPILED_FOLDER}/PLATFORM"


def ship(spark: "SparkSession", folder: Path | None = None) -> None:
    """Send the archive to the executors of a session.

    Args:
        folder: where to write the archive. It must exist as long as the session does. Without it, a temporary
            folder is used, which is removed when this process ends.
    """
    if find_archive() is not None and find_context(spark) is not None:
        return  # its tasks import jsctl from where this process does
    if folder is None:
        stack = contextlib.ExitStack()
        folder = stack.enter_context(temporary_folder("jsctl-spark-"))
        atexit.register(stack.close)
    archive = write_archive(folder / "jsctl.zip")
    if find_context(spark) is None:
        spark.addArtifacts(str(archive), pyfile=True)
        with contextlib.suppress(ValueError):  # PySpark adds it here, too, where it is soon removed
            sys.path.remove(str(archive))
    else:
        spark.sparkContext.addPyFile(str(archive))


@functools.cache
def get_session_key() -> tuple[str, bytes]:
    """Return the name of a module that only the archives of this process have, and the 32 byte key in it."""
    return f"jsctl_key_{secrets.token_hex(8)}", secrets.token_bytes(32)


def write_archive(path: Path) -> Path:
    """Write the archive from the packages that are installed here; return its path.

    Raises MissingDependency when one of the packages is not installed here.
    """
    module, key = get_session_key()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        write_packages(archive)
        archive.writestr(f"{module}.py", f"KEY = {key!r}\n")
    return path


def write_packages(archive: zipfile.ZipFile) -> None:
    """Write the packages that are installed here into an archive.

    Raises MissingDependency when one of them is not installed here.
    """
    for name in _PACKAGES:
        root = _find_package_folder(name)
        for file in sorted(root.rglob("*")):
            if file.suffix in _SUFFIXES:
                archive.write(file, Path(name, file.relative_to(root)))
    archive.writestr(_PLATFORM_FILE, _describe_platform())
    for file, name_in_archive in _list_compiled_files():
        archive.write(file, Path(_COMPILED_FOLDER, name_in_archive))


def provide_pynacl() -> None:
    """Make PyNaCl importable in a task from the archive that jsctl was imported from.

    Does nothing if PyNaCl is installed, if jsctl was not imported from an archive, or if the archive comes
    from another platform; code that needs PyNaCl then raises MissingDependency.
    """
    if find_spec("nacl") is not None:
        return
    archive = find_archive()
    if archive is None:
        return
    with zipfile.ZipFile(archive) as packed:
        if packed.read(_PLATFORM_FILE).decode() != _describe_platform():
            return
        folder = _unpack(packed, Path(archive).with_suffix(".compiled"))
    sys.path.append(str(folder / _COMPILED_FOLDER))
    importlib.invalidate_caches()


def find_archive() -> str | None:
    """Return the path of the archive that jsctl was imported from; None if it is installed."""
    archive: str | None = getattr(jsctl.__loader__, "archive", None)
    return archive


def _unpack(packed: zipfile.ZipFile, folder: Path) -> Path:
    """Unpack the compiled packages into `folder`, beside the archive, which Spark removes with the session.

    Other tasks may do the same at the same time: the first one to finish counts.
    """
    if folder.is_dir():
        return folder
    names = [name for name in packed.namelist() if name.startswith(f"{_COMPILED_FOLDER}/")]
    try:
        draft = Path(tempfile.mkdtemp(prefix=".jsctl-", dir=folder.parent))
    except OSError:  # the folder of the archive is read-only
        draft = folder = Path(tempfile.mkdtemp(prefix="jsctl-compiled-"))
        atexit.register(shutil.rmtree, draft, ignore_errors=True)
    packed.extractall(draft, names)
    if draft != folder:
        with contextlib.suppress(OSError):  # another task was first
            draft.rename(folder)
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _find_package_folder(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependency(f"the package {name} is not installed", "run: pip install --upgrade jsctl")
    folder = Path(spec.submodule_search_locations[0])
    if not folder.is_dir():
        raise MissingDependency(
            f"the package {name} is in an archive, which cannot be sent on", "run: pip install jsctl, here"
        )
    return folder


def _list_compiled_files() -> list[tuple[Path, Path]]:
    """Return the files of PyNaCl, and of the part of cffi that it loads, each with its name in the
    archive."""
    files: list[tuple[Path, Path]] = []
    for name in _COMPILED_PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            return []
        if spec.submodule_search_locations:
            root = Path(spec.origin).parent
            modules = [file for pattern in ("*.py", "*.so", "*.pyd") for file in sorted(root.rglob(pattern))]
            files += [(file, Path(name, file.relative_to(root))) for file in modules]
        else:
            files.append((Path(spec.origin), Path(Path(spec.origin).name)))
    return files


def _describe_platform() -> str:
    """Describe the platform of a compiled module: Python version, ABI, operating system, processor."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{version} {sysconfig.get_config_var('EXT_SUFFIX')} {sys.platform} {platform.machine()}"
