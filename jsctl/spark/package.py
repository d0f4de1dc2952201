"""`python -m jsctl.spark.package FILE`: jsctl as one ZIP file for `spark-submit --py-files`.

It has jsctl and the packages that it needs: executors and the driver then need PySpark and pyarrow only.
Spark does not look for data sources in such a file; `jsctl.spark.connect` registers ours. The compiled parts
of PyNaCl work where Python, operating system and processor are those of this machine.
"""

import platform
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from jsctl.base.files import naming_write_errors, open_atomically
from jsctl.base.units import format_bytes
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.spark.session.task_archive import write_packages


def write_package(path: Path) -> None:
    """Write the ZIP file. Raises BadInput for another kind of file, MissingDependency, JsctlError."""
    if path.suffix != ".zip":
        raise BadInput(f"{path} is not the name of a ZIP file", "use one such as jsctl.zip")
    with (
        naming_write_errors(path),
        open_atomically(path, mode=None) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        write_packages(archive)


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m jsctl.spark.package FILE.zip\n")
        return 0 if list(arguments) in (["-h"], ["--help"]) else ExitStatus.USAGE
    path = Path(arguments[0])
    try:
        write_package(path)
    except JsctlError as error:
        sys.stderr.write(f"jsctl: error: {error}\n")
        return error.status
    size = format_bytes(path.stat().st_size)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    sys.stderr.write(f"wrote {path}, {size}; logins are signed on Python {version}, {platform.machine()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
