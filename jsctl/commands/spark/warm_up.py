"""`jsctl spark warm-up`."""

from jsctl.base.units import format_bytes, pluralize
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.spark.session import class_archive
from jsctl.spark.session.session import check_environment
from jsctl.views.result import Result, Text


@command("warm-up", examples=["jsctl spark warm-up", "jsctl spark warm-up --remove"])
@option("--remove", is_flag=True, help="Remove all archives instead")
def warm_up(env: Env, remove: bool) -> Result:
    """Run Spark once, which takes a minute or two, and keep its classes in a file of about 200 MB. Commands
    that start Spark later do so in less than half the time. Every version of Java and of Spark needs its own
    archive; the three that were used last are kept.
    """
    try:
        return _remove() if remove else _make(env)
    except OSError as error:
        raise JsctlError(f"cannot write to {class_archive.find_folder()}: {error.strerror}") from None


def _make(env: Env) -> Result:
    check_environment()
    from jsctl.spark.session.make_class_archive import make

    archive = class_archive.find()
    if not class_archive.is_whole(archive):
        env.inform("making the archive of Spark's classes ...")
    is_new = make(archive)
    size = class_archive.measure(archive)
    text = f"{archive} {'was made' if is_new else 'is there already'}: {format_bytes(size)}"
    return Result([Text(text)], data={"archive": str(archive), "bytes": size, "made": is_new})


def _remove() -> Result:
    folder = class_archive.find_folder()
    count, size = class_archive.remove_all()
    text = f"removed {pluralize(count, 'archive')} from {folder}: {format_bytes(size)}"
    return Result([Text(text)], data={"folder": str(folder), "removed": count, "bytes": size})
