"""Whether exports can be written to a place: tried with a small file, which is removed again."""

import contextlib
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from jsctl.base.units import format_bytes
from jsctl.errors import JsctlError
from jsctl.spark.session.hadoop import HadoopPath
from jsctl.spark.session.installation import Part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLOCK = 60  #: seconds that clocks may differ; S3 refuses requests that are 15 minutes off


def check_folder(folder: Path) -> list[Part]:
    """Return what is found about a folder of this machine, which need not exist."""
    above = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        return [Part("Writing", path=str(above), error=f"cannot write below {above}; name another folder")]
    space = f"{format_bytes(shutil.disk_usage(above).free)} free"
    return [Part("Writing", "", "permitted", str(above)), Part("Space", "", space, str(above))]


def check_store(place: HadoopPath, spark: "SparkSession") -> list[Part]:
    """Return what is found about a place in Hadoop's file systems, up to the first thing that is wrong."""
    place = place.connect(spark)
    probe = place / f"_jsctl_check_{secrets.token_hex(4)}"
    parts = []
    name = "Reading"
    try:
        parts.append(Part(name, "", f"{len(place.iterdir())} entries", str(place)))
        name = "Writing"
        begin = time.time()
        probe.write_text("jsctl export check\n")
        parts.append(Part(name, "", f"took {time.time() - begin:.1f} s", str(place)))
        name = "Two runs at once"
        if probe.create_text(""):
            raise JsctlError(
                "this store overwrites what it was told to create", "let one run write at a time"
            )
        parts.append(Part(name, "", "one is refused", str(place)))
        name = "Clock"
        ahead = probe.list_files()[0].modified / 1000 - begin
        if abs(ahead) > _CLOCK:
            raise JsctlError(f"the clock of {place} and that of this machine differ by {abs(ahead):.0f} s")
        parts.append(Part(name, "", f"differs by {abs(ahead):.0f} s", str(place)))
    except JsctlError as error:
        parts.append(Part(name, path=str(place), error=str(error)))
    finally:
        with contextlib.suppress(JsctlError):
            probe.unlink()
    return parts
