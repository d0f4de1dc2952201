"""`jsctl demo`."""

import asyncio
import contextlib
import io
import shlex
import shutil
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jsctl.base.command_lines import build_flag, build_line, format_arguments
from jsctl.base.files import keep_folder
from jsctl.base.json_text import parse_json
from jsctl.base.signals import Stopped, stoppable
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import ExitStatus, JsctlError, MissingDependency
from jsctl.localserver import binary
from jsctl.localserver.compile import compile_network
from jsctl.localserver.demo import GUIDE, LIVE, SPARK, Demo, Step, demo_folder
from jsctl.localserver.network import Network, Plan
from jsctl.localserver.short_forms import load_named
from jsctl.spark.session.session import check_environment as check_spark
from jsctl.views.events import Events, results
from jsctl.views.result import Field, InfoPage, Result, Section, Text


def _show_step(note: str, line: str) -> Result:
    """Show a command line ahead of its output. note: why it is run."""
    heading = f"# {note}\n" if note else ""
    return Result([Text(f"\n{heading}$ {line}\n", "bold")])


def _show_done(
    folder: Path, contexts: Sequence[str], steps: Sequence[Mapping[str, Any]], *, spark: bool, program: str
) -> Result:
    """Show where the files of the demo are.

    contexts: those of a network that was left running. program: the command that runs jsctl in this shell.
    """
    fields = [
        Field("Configurations", str(folder / "*.conf")),
        Field("Logs", str(folder / "*.log")),
        Field("Streams", str(folder / "store_*")),
    ]
    if spark:
        fields.append(Field("Reports", str(folder / "reports")))
    if contexts:
        context = build_flag("--context", contexts[0])
        fields += [
            Field("Contexts", list(contexts)),
            Field("Look", build_line("report", flags=["--watch"], place=context, program=program)),
            Field("Stop", build_line("server stop", contexts[0], program=program)),
        ]
    else:
        flags = ["--port", "0", *build_flag("--store", folder)]
        line = build_line("server run", "hub-leaf", flags=flags, program=program)
        fields.append(Field("Start again", line))
    heading = "The network is running" if contexts else "All servers have stopped"
    return Result(
        [Text(""), InfoPage(heading, [Section("", fields)])], data=_build_document(folder, contexts, steps)
    )


def _build_document(
    folder: Path, contexts: Sequence[str], steps: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {"folder": str(folder), "contexts": list(contexts), "steps": list(steps)}


@command("demo", examples=["jsctl demo", "jsctl demo --keep --no-spark", "jsctl demo --to /tmp/demo"])
@option("--to", metavar="DIR", default="", help="New folder for all files of the demo (jsctl-demo)")
@option("--keep", is_flag=True, help="Leave the network running")
@option("--no-spark", is_flag=True, help="Leave out the export, which needs Java and PySpark")
async def demo(env: Env, to: str, keep: bool, no_spark: bool) -> Events[Result]:
    """Start a hub and a leaf node on free ports and walk through the leaf node guide: show each command with
    its output, export the reports to Parquet and query them with SQL. At the end a consumer falls behind and
    catches up on the live report. Then the servers are stopped, and their files stay; ctrl-C removes these,
    too.
    """
    ending: list[Result] = []
    shown = _run_and_clean(env, binary.find(env.environ), to, keep, no_spark, ending)
    return results(shown, lambda: ending[0])


async def _run_and_clean(
    env: Env, server: binary.Binary, to: str, keep: bool, no_spark: bool, ending: list[Result]
) -> AsyncGenerator[Result, None]:
    """to: the folder; empty to choose one."""
    try:
        async with stoppable() as signals:
            with demo_folder(to) as folder:
                try:
                    async with contextlib.aclosing(
                        _run(env, server, folder, keep, no_spark, ending)
                    ) as shown:
                        async for result in shown:
                            yield result
                finally:
                    if not signals:
                        keep_folder(folder)
    except Stopped:
        raise Stopped("the demo was stopped and removed") from None


async def _run(
    env: Env, server: binary.Binary, folder: Path, keep: bool, no_spark: bool, ending: list[Result]
) -> AsyncGenerator[Result, None]:
    """Yield what is shown ahead of each step. ending: receives what is shown last."""
    plan = Plan(
        compile_network(load_named("hub-leaf", "demo"), folder.absolute()),
        folder.absolute(),
        port=0,
        temporary=True,
    )
    steps: list[dict[str, Any]] = []
    async with Network.start(plan, server, env.environ) as network:
        if not env.wants_json:
            env.say(f"nats-server {server.version} runs as hub and leaf node, in {folder}")
        contexts = network.contexts
        values = {
            "hub": contexts["demo-hub"],
            "system": contexts["demo-system"],
            "reports": str(folder / "reports"),
        }
        runner = Demo(values, network.servers["hub"].url.replace("//", "//acc:acc@"), env.environ)
        missing: MissingDependency | None = None
        try:
            steps_to_play = [*GUIDE, *LIVE]
            if not no_spark:
                try:
                    check_spark()
                    steps_to_play = [*GUIDE, *SPARK, *LIVE]
                except MissingDependency as error:
                    missing = error  # the rest of the demo needs no Spark
            for step in steps_to_play:
                if not env.wants_json:
                    yield _show_step(step.note, format_arguments(runner.build_arguments(step.line)))
                steps.append(await _play_step(env, runner, step))
        except _StepFailed:
            env.say(f"the demo ends here; configurations and logs are in {folder}")
            document = _build_document(folder, (), steps)  # up to the failure
            ending.append(Result(data=document, status=ExitStatus.FAILURE))
            return
        except JsctlError as error:
            raise JsctlError(str(error), f"configurations and logs are in {folder}") from None
        if keep:
            await network.leave()
    if missing:
        raise MissingDependency(missing.message, f"{missing.hint}; everything else is in {folder}")
    running = tuple(contexts.values()) if keep else ()
    ending.append(_show_done(folder, running, steps, spark=not no_spark, program=_find_program(env)))


def _find_program(env: Env) -> str:
    """Return the command that starts this jsctl in the user's shell: its name when that is on PATH, else its
    path.
    """
    path = Path(sys.argv[0])
    if path.name != "jsctl":
        return shlex.join([sys.executable, "-m", "jsctl"])
    on_path = shutil.which("jsctl", path=env.environ.get("PATH", ""))
    return "jsctl" if on_path and Path(on_path).samefile(path) else shlex.quote(sys.argv[0])


class _StepFailed(Exception):
    """A command of the demo failed, and has reported why."""


async def _play_step(env: Env, runner: Demo, step: Step) -> dict[str, Any]:
    """Run a step's command line and show its output. Returns both for the JSON document.

    Raises _StepFailed, JsctlError.
    """
    args = runner.build_arguments(step.line)
    line = format_arguments(args)
    if step.copied:
        await runner.wait_until_copied(step.copied)
    if form := env.flags.get("form"):
        args = ["--as", form, *args]
    env.streams.stdout.flush()
    stdout = None if env.wants_json else _get_descriptor(env.streams.stdout)
    meanwhile = asyncio.ensure_future(runner.run_lines(step.meanwhile))
    try:
        status, output = await runner.run(args, stdout, gentle=step.gentle)
        await meanwhile
    finally:
        meanwhile.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await meanwhile
    if status:
        raise _StepFailed
    if output and not env.wants_json:
        env.streams.stdout.write(output)
    return {"command": line, "output": _parse_output(output)}


def _get_descriptor(stream: Any) -> int | None:
    try:
        return int(stream.fileno())
    except (OSError, io.UnsupportedOperation):
        return None


def _parse_output(output: str) -> Any:
    """Return an output as a JSON document, as a list of documents where each line is one, else as text."""
    for parse in (parse_json, lambda text: [parse_json(line) for line in text.splitlines()]):
        with contextlib.suppress(ValueError):
            return parse(output)
    return output
