"""`jsctl demo`."""

import shutil
from pathlib import Path

from jsctl.commands.cli import command, option
from jsctl.commands.demo.runner import Runner, StepFailed
from jsctl.commands.demo.steps import GUIDE, SPARK
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, MissingDependency
from jsctl.localserver import binary
from jsctl.localserver.network import Network, Plan
from jsctl.localserver.topology import hub_leaf
from jsctl.signals import Stopped, stoppable
from jsctl.spark.session.session import check as check_spark
from jsctl.views.result import Result
from jsctl.views.server import local as view

_FOLDER = "jsctl-demo"


@command("demo", examples=["jsctl demo", "jsctl demo --keep --no-spark", "jsctl demo --to /tmp/demo"])
@option("--to", metavar="DIR", default="", help="New folder for everything that the demo makes (jsctl-demo)")
@option("--keep", is_flag=True, help="Leave the network running")
@option("--no-spark", is_flag=True, help="Leave out the export, which needs Java and PySpark")
async def demo(env: Env, to: str, keep: bool, no_spark: bool) -> Result:
    """Starts a hub and a leaf node on free ports, walks through the leaf node guide, prints each command and
    what it said, exports the reports to Parquet and asks them with SQL, and stops what it started.
    After ctrl-C nothing is left.
    """
    server = binary.find(env.environ)
    folder = _new_folder(to)
    try:
        async with stoppable() as signals:
            _make(folder)
            try:
                return await _run(env, server, folder, keep, no_spark)
            finally:
                if signals:
                    shutil.rmtree(folder, ignore_errors=True)
    except Stopped:
        raise Stopped("the demo was stopped; nothing of it is left") from None


async def _run(env: Env, server: binary.Binary, folder: Path, keep: bool, no_spark: bool) -> Result:
    plan = Plan(hub_leaf("demo"), folder.absolute(), port=0, temporary=True)
    async with Network.start(plan, server, env.environ) as network:
        hub = network.servers["hub"]
        if not env.wants_json:
            env.say(f"nats-server {server.version} runs as hub and leaf node, in {folder}")
        contexts = network.contexts
        values = {
            "hub": contexts["demo-hub"],
            "system": contexts["demo-system"],
            "reports": str(folder / "reports"),
        }
        runner = Runner(env, values, hub.url.replace("//", "//acc:acc@"))
        missing: MissingDependency | None = None
        try:
            for step in GUIDE:
                await runner.run(step)
            if not no_spark:
                check_spark()
                for step in SPARK:
                    await runner.run(step)
        except MissingDependency as error:
            missing = error  # all but Spark is there to be looked at
        except StepFailed:
            env.say(f"the demo ends here; configurations and logs are in {folder}")
            return view.demo_failed(folder, runner.done)
        except JsctlError as error:
            raise JsctlError(str(error), f"configurations and logs are in {folder}") from None
        if keep:
            await network.leave()
    if missing:
        raise MissingDependency(missing.message, f"{missing.hint}; all else is in {folder}")
    used = tuple(contexts.values()) if keep else ()
    return view.demo(folder, used, runner.done, spark=not no_spark)


def _new_folder(to: str) -> Path:
    """The folder to make: the one named, else `jsctl-demo` or, where that is taken, `jsctl-demo-2` ..."""
    if to:
        folder = Path(to).expanduser()
        if folder.exists():
            raise BadInput(f"{to} exists", "--to takes a folder that is not there yet")
        return folder
    number, folder = 1, Path(_FOLDER)
    while folder.exists():
        number += 1
        folder = Path(f"{_FOLDER}-{number}")
    return folder


def _make(folder: Path) -> None:
    try:
        folder.mkdir()
    except FileNotFoundError:
        raise BadInput(
            f"there is no folder {folder.parent}", "--to takes a folder in one that exists"
        ) from None
    except OSError as error:
        raise JsctlError(f"cannot make {folder}: {error.strerror}", "--to names another folder") from None
