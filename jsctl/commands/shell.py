"""`jsctl shell`."""

import contextlib
import io
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

import click

from jsctl.base.files import read_input
from jsctl.base.signals import interrupt_handler
from jsctl.base.standard_streams import Streams
from jsctl.base.user_folders import find_state_folder
from jsctl.commands.cli import command, option
from jsctl.commands.shell_prompt.command_line import Line, is_complete, parse_line, split_list, split_script
from jsctl.contexts.model import strip_login
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.render.text import clean_lines
from jsctl.session import Session

if TYPE_CHECKING:
    from jsctl.prompts.shell import ShellPrompt

T = TypeVar("T")

BUILTINS = {
    "use": "Use another context from here on; without a name, the selected one",
    "history": "List the earlier lines, or the last N of them",
    "domain": "Use a JetStream domain from here on; without a name, the context's",
    "exit": "End the shell, as ctrl-D does",
}

HELP = """\
Every command of jsctl, without the word jsctl, with connections that stay open from line to line.

\b
use CONTEXT         use another context from here on
domain DOMAIN       use a JetStream domain from here on
stream ls | wc -l   send output to a command of the system
stream ls > FILE    write output to a file; >> adds to it
a && b, a || b      run b if a succeeded, or failed; a ; b runs both
history 20          list the last 20 lines
! ls -l             run a command of the system
exit, or ctrl-D     end

Tab completes commands, flags and names; up and ctrl-R find earlier lines. A line continues after a backslash
and within quotation marks. Ctrl-C ends a command, not the shell. With --file, or when stdin is not a
terminal, the lines are a script: it stops at the first command that fails, with its status.
"""

_SECRET_FLAGS = ("--password", "--token", "--seed", "--jwt", "--user", "://")
_KEPT_FLAGS = frozenset({"timeout", "form", "colors", "trace", "connection_name"})
"""Flags of the shell's own command line that go with every context."""


@command(
    "shell",
    help=HELP,
    examples=["jsctl shell", "jsctl shell --context prod", "jsctl shell --file checks.jsctl"],
)
@option("--file", "-f", "file", metavar="FILE", default="", help="Run the lines of a file; - is stdin")
@click.pass_context
def shell(ctx: click.Context, env: Env, file: str) -> int:
    if env.session or env.run_line is None:
        raise BadInput("this is already a jsctl shell")
    interpreter = Interpreter(env)
    try:
        if file or not env.can_ask:
            return interpreter.run_script(file or "-")
        return interpreter.run_prompt(ctx.find_root().command)
    finally:
        interpreter.session.close()


class Interpreter:
    """The interpreter of lines, one after the other, in a session."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._flags = dict(env.get_typed_flags() if env.repeated.get("context") else env.flags)
        self._from_environment = set(env.from_environment)
        self._stdin = env.streams.stdin
        self.session = Session(env.say)
        self.has_ended = False

    def run_prompt(self, root: click.Command) -> int:
        """Read lines from a terminal until the user ends. Returns the last status."""
        from jsctl.commands.shell_prompt.completion import ShellCompletion
        from jsctl.prompts.shell import ShellPrompt

        env = self._env
        completion = ShellCompletion(root, self._create_env, BUILTINS)
        prompt = ShellPrompt(
            env.streams.stderr,
            self._find_history_file(),
            completion.complete,
            is_complete,
            should_keep=_is_kept_in_history,
        )
        env.say("help lists the commands, help shell explains this prompt; ctrl-D ends it")
        status = 0
        held: list[int] = []  #: interrupts between a line and its command, which ends at once
        with interrupt_handler(lambda number, frame: held.append(number)) as handler:

            def run(work: Callable[[], T]) -> T:
                with interrupt_handler(handler):
                    if held:
                        raise KeyboardInterrupt
                    return work()

            while not self.has_ended:
                held.clear()
                try:
                    text = run(partial(self._read, prompt, status))
                    if text is None:
                        break
                    status = run(partial(self._run_lines, text)) if text.strip() else 0
                except KeyboardInterrupt:
                    status = self._report_interrupt()
        return status

    def _read(self, prompt: "ShellPrompt", status: int) -> str | None:
        return self.session.run(prompt.read(self._describe_place(), status))

    def run_script(self, file: str) -> int:
        """Run the lines of a file up to the first that fails. Returns its status."""
        text = read_input(file, self._env.streams.stdin)
        if file == "-":  # the commands are not to read the script
            self._stdin = io.StringIO()
        return self._run_lines(text, "stdin" if file == "-" else file)

    def _run_lines(self, text: str, script: str = "") -> int:
        """Run lines up to the first that fails; return its status. script: the name of the file that holds
        them; a user who enters or pastes them sees which one fails.
        """
        for number, line in split_script(text):
            status = self.run_line(line)
            if status and script and not self.has_ended:
                self._env.say(
                    f"jsctl: line {number} of {script} ended with status {status}; the rest was not run"
                )
            if status or self.has_ended:
                return status
        return ExitStatus.OK

    def run_line(self, text: str) -> int:
        """Run one line, whose commands may be joined by `&&`, `||` and `;`. Returns its status."""
        text = text.strip()
        if not text or text.startswith("#"):
            return ExitStatus.OK
        status: int = ExitStatus.OK
        try:
            for operator, part in split_list(text):
                if operator != ("&&" if status else "||") and not self.has_ended:
                    status = self._run_command(part.strip())
                    if status == ExitStatus.INTERRUPTED:
                        break
        except JsctlError as error:
            self._env.say(f"jsctl: error: {error}")
            return error.status
        except KeyboardInterrupt:
            return self._report_interrupt()
        return status

    def _run_command(self, text: str) -> int:
        """Run one command, with its pipe. Returns its status."""
        try:
            if text.startswith("!"):
                return _wait(subprocess.Popen(text[1:], shell=True))
            line = parse_line(text)
            if not line.words:
                raise BadInput("the line has no command", "help lists the commands")
            return self._run_piped(line) if line.pipe else self._run(line.words, self._env.streams.stdout)
        except JsctlError as error:
            self._env.say(f"jsctl: error: {error}")
            return error.status

    def _report_interrupt(self) -> int:
        self._env.say("")
        return ExitStatus.INTERRUPTED

    def _run_built_in(self, name: str, words: Sequence[str], out: TextIO) -> int:
        if len(words) > 1:
            raise BadInput(f"{name} takes at most one word")
        word = words[0] if words else ""
        if name == "history":
            return self._list_history(word, out)
        if name in ("exit", "quit"):
            if word and not (word.isdecimal() and len(word) < 4):
                raise BadInput(f"{word!r} is not an exit status")
            self.has_ended = True
            return int(word or 0)
        if name == "use":
            names = _KEPT_FLAGS if word else _KEPT_FLAGS | self._env.flags.keys()
            flags = {key: value for key, value in self._env.flags.items() if key in names}
            flags |= {"context": word} if word else {}
            self._create_env(flags).settings()  # NotFound for a context that does not exist
            self._flags = flags
            self._from_environment = self._env.from_environment - ({"context"} if word else set())
            return ExitStatus.OK
        flags = {key: value for key, value in self._flags.items() if key != "js_domain"}
        flags |= {"js_domain": word} if word else {}
        self._create_env(flags).settings()
        self._flags = flags
        return ExitStatus.OK

    def _list_history(self, count: str, out: TextIO) -> int:
        if count and not count.isdecimal():
            raise BadInput(f"{count!r} is not a number of lines")
        from jsctl.prompts.shell import read_history

        lines = list(enumerate(read_history(self._find_history_file()), 1))
        for number, line in lines[-int(count) :] if count else lines:
            out.write(f"{number:5}  {clean_lines(line)}\n")
        return ExitStatus.OK

    def _run(self, words: Sequence[str], out: TextIO) -> int:
        if words[0] in (*BUILTINS, "quit") and "--help" not in words:
            return self._run_built_in(words[0], words[1:], out)
        if self._env.run_line is None:
            return ExitStatus.FAILURE
        self.session.is_busy = True
        try:
            return int(self._env.run_line(words, self._create_env(out=out)))
        finally:
            self.session.end_command()

    def _run_piped(self, line: Line) -> int:
        """Run a command whose output goes to a command of the system. Returns the first failing status."""
        stdout = self._env.streams.stdout
        stdout.flush()
        with contextlib.ExitStack() as stack:
            output_file = None if _has_file(stdout) else stack.enter_context(tempfile.TemporaryFile())
            process = subprocess.Popen(line.pipe, shell=True, stdin=subprocess.PIPE, stdout=output_file)
            if process.stdin is None:
                raise RuntimeError("no pipe")
            out = io.TextIOWrapper(process.stdin, encoding="utf-8", errors="surrogateescape")
            try:
                status = self._run(line.words, out)
            finally:
                with contextlib.suppress(OSError, ValueError):
                    out.close()
                _wait(process)
            if output_file:
                output_file.seek(0)
                stdout.write(output_file.read().decode(errors="surrogateescape"))
        return status or process.returncode

    def _create_env(self, flags: dict[str, object] | None = None, out: TextIO | None = None) -> Env:
        """Return the Env for one command line."""
        env = self._env
        streams = env.streams
        child = Env(
            Streams(self._stdin, out or streams.stdout, streams.stderr, streams.width),
            env.environ,
            clock=env.clock,
        )
        child.flags = dict(self._flags if flags is None else flags)
        child.from_environment = set(self._from_environment)
        child.session = self.session
        return child

    def _describe_place(self) -> str:
        """Return the context and domain, for the prompt."""
        try:
            settings = self._create_env().settings()
        except JsctlError:
            return "?"
        place = settings.context or strip_login(settings.url).removeprefix("nats://")
        return f"{place}:{settings.js_domain}" if settings.js_domain else place

    def _find_history_file(self) -> Path:
        return find_state_folder(self._env.environ) / "jsctl" / "history"


def _is_kept_in_history(line: str) -> bool:
    """Return whether a line may be written to the history: it has no secret, and no leading blank."""
    return not line.startswith(" ") and not any(flag in line for flag in _SECRET_FLAGS)


def _has_file(stream: TextIO) -> bool:
    try:
        return stream.fileno() == 1
    except (OSError, ValueError):
        return False


def _wait(process: "subprocess.Popen[bytes]") -> int:
    """Wait for a process, which ctrl-C ends, too. Returns its status."""
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:
            continue
        return status if status >= 0 else 128 - status
