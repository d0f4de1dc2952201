"""The environment of a command: streams, terminal and clock; contexts, connections and prompter on demand.

This file is long because it is all that a command may know of the process around it.
"""

import contextlib
import io
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from jsctl.base.standard_streams import Streams, is_dumb
from jsctl.errors import BadInput, Declined, DryRun, ExitStatus, JsctlError, MissingName

if TYPE_CHECKING:
    from jsctl.contexts.model import Context
    from jsctl.contexts.settings import Settings
    from jsctl.contexts.store import ContextStore
    from jsctl.jetstream.api import Api
    from jsctl.jetstream.message.data_loss import DataLoss
    from jsctl.nats.connection import Connection
    from jsctl.prompts.prompter import Prompter
    from jsctl.render.emit import Form
    from jsctl.session import Session
    from jsctl.views.board import Gauge
    from jsctl.views.events import Events
    from jsctl.views.intent import Intent
    from jsctl.views.result import Result
    from jsctl.views.selection import Selection

T = TypeVar("T")

_DATA = ("json", "yaml")  #: forms of documents and of errors; tables have no place for an error
_NARROW = 40  #: columns of a line up to which it is not folded


class Env:
    """One run of jsctl.

    flags: the values of the global flags on the command line or in the environment, by Settings field
        (`server` for the URL).
    from_environment: which of these flags come from environment variables.
    repeated: every value of the flags that may be repeated (--context, --js-domain), in their order.
    clock: seconds since the epoch.
    closing_lines: lines shown at the very end, even after an error.
    prompter: asks the questions; None looks for a terminal.
    verb: the path of the verb that runs ("stream ls"), empty before one begins.
    is_own_verb: whether the command is one that `nats` does not have.
    dry_run, missing_ok: whether --dry-run, --missing-ok was given.
    session: the session of the shell that runs this command line.
    words: the command line.
    run_line: runs a further command line in this process, in an Env of its own; set by the app.
    begin: called before a verb begins, from which on ctrl-C no longer ends the process immediately.
    is_embedded: whether it is a call of another program, whose process must stay as it is (`jsctl.run`).
    runner: runs the coroutine of the verb in place of `loops.run_verb`.
    writes_lines: whether the verb writes events, each as a line of JSON.
    failure: the error whose line was written last.
    on_loss: called with what a verb deletes, in its dry run and right before it does so; may raise an error.
    mirrors_nats: whether the line has the outcome of nats where jsctl differs on purpose (`jsctl compat`).
    """

    def __init__(
        self,
        streams: Streams,
        environ: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.time,
        prompter: "Prompter | None" = None,
    ) -> None:
        self.streams = streams
        self.environ = environ
        self.clock = clock
        self._prompter = prompter
        self.flags: dict[str, Any] = {}
        self.repeated: dict[str, list[str]] = {}
        self.from_environment: set[str | None] = set()
        self.closing_lines: list[str] = []
        self.verb = ""
        self.is_own_verb = False
        self.dry_run = False
        self.missing_ok = False
        self.session: Session | None = None
        self.words: Sequence[str] = ()
        self.run_line: Callable[[Sequence[str], Env], int] | None = None
        self.begin: Callable[[], None] = lambda: None
        self.is_embedded = False
        self.runner: Callable[[Coroutine[Any, Any, None]], None] | None = None
        self.writes_lines = False
        self.failure: JsctlError | None = None
        self.on_loss: Callable[[DataLoss], None] = lambda loss: None
        self.mirrors_nats = False
        self._connections: dict[str, Connection] = {}
        self._places: dict[Settings | str, None] = {}  #: places that the verb works in, or their names
        self._selects = False  #: whether repeated results are what --columns and --filter choose
        self._has_noted_variables = False
        self._heading_written = False  #: whether a result was written; rounds in CSV share one heading
        self._stack: AsyncExitStack | None = None
        self._show_notice: Callable[[str], None] | None = None  #: while a screen is up
        self._status = ""  #: the line that `show_status` shows

    # -- terminal ---------------------------------------------------------------------------------

    @property
    def is_terminal(self) -> bool:
        """Whether stdout is a terminal."""
        return self.streams.stdout.isatty()

    @property
    def can_ask(self) -> bool:
        """Whether questions can be asked: stdin and stderr are terminals."""
        return self._prompter is not None or (self.streams.stdin.isatty() and self.streams.stderr.isatty())

    @property
    def width(self) -> int:
        """Columns of the terminal; 100 if there is none."""
        return self.streams.columns(self.streams.stdout, self.environ)

    @property
    def error_width(self) -> int:
        """Columns of the terminal that stderr is; 100 if there is none."""
        return self.streams.columns(self.streams.stderr, self.environ)

    @property
    def color(self) -> bool:
        """Whether to use colors on stdout: it is a terminal, and NO_COLOR is not set."""
        return self.is_terminal and not self.environ.get("NO_COLOR") and not is_dumb(self.environ)

    @property
    def form(self) -> "Form":
        """The form of the output: that of --as or --json; without them, Markdown with LLMFORMAT=1, otherwise
        tables on a terminal, plain text in a pipe.
        """
        form: Form | None = self.flags.get("form")
        return form or ("markdown" if self.is_for_models else "table" if self.is_terminal else "plain")

    @property
    def is_for_models(self) -> bool:
        """Whether a language model reads the output, which LLMFORMAT says as for the `nats` tool."""
        return self.environ.get("LLMFORMAT") == "1"

    @property
    def wants_json(self) -> bool:
        """Whether the output is the verb's document; --columns and --filter choose from its table."""
        return self.form in _DATA and not self.is_selective

    @property
    def is_selective(self) -> bool:
        """Whether --columns or --filter choose from the table of the verb."""
        return "selection" in self.flags

    @property
    def asks_for_data(self) -> bool:
        """Whether the command line asks for JSON or YAML, even if it could not be parsed that far."""
        words = self.words[: self.words.index("--")] if "--" in self.words else self.words
        if self.form in _DATA or not {"--json", "-j", *(f"--as={form}" for form in _DATA)}.isdisjoint(words):
            return True
        return any(word == "--as" and form in _DATA for word, form in pairwise(words))

    @property
    def prompter(self) -> "Prompter":
        """The prompter that asks questions; without a terminal, it fails with the flag that would have
        answered.
        """
        if self._prompter is None:
            if self.can_ask:
                from jsctl.prompts.terminal import TerminalPrompter

                self._prompter = TerminalPrompter(self.streams.stderr, self.say, lambda: self.place)
            else:
                from jsctl.prompts.prompter import RefusingPrompter

                return RefusingPrompter()
        return self._prompter

    def say(self, text: str) -> None:
        """Write a line to stderr, wrapped on a terminal, about what is wrong or missing: also into a pipe.
        While a screen is active, show it there. See `inform`."""
        from jsctl.render.text import clean_lines

        lines = clean_lines(strip_logins(text))
        if self._show_notice is not None:
            self._show_notice(lines)
            return
        if len(lines) > _NARROW and self.streams.stderr.isatty():
            from jsctl.render.fit import fold_lines

            lines = fold_lines(lines, self.error_width)
        status = self._status
        self.show_status("")
        self.streams.stderr.write(lines + "\n")
        self.streams.stderr.flush()
        self.show_status(status)

    def show_status(self, text: str) -> None:
        """Show a line on stderr, if it is a terminal, in place of the last one, and until it is replaced;
        empty for none."""
        if text == self._status or not self.streams.stderr.isatty() or is_dumb(self.environ):
            return
        from jsctl.render.transfer import clear_status, write_status

        if self._status:
            clear_status(self.streams.stderr)
        if text:
            write_status(self.streams.stderr, text)
        self._status = text

    def inform(self, text: str) -> None:
        """Write a line that no script asked for, about what is being or was done: only to a terminal."""
        if self._show_notice is not None or self.streams.stderr.isatty():
            self.say(text)

    @contextmanager
    def progress(self, label: str, total: int, *, in_bytes: bool = False) -> Iterator[Callable[[int], None]]:
        """Show a progress bar if stderr is a terminal. Yields a function that takes the steps done."""
        if total < 2 or not self.streams.stderr.isatty() or is_dumb(self.environ):
            yield lambda steps: None
            return
        from jsctl.render.progress import Bar

        with Bar(self.streams.stderr, label, total, in_bytes=in_bytes) as bar:
            yield bar.advance

    def select(self, result: "Result") -> "Result":
        """Return what --columns and --filter choose of a result. Raises BadInput for wrong names."""
        selection: Selection | None = self.flags.get("selection")
        return result if selection is None else selection.apply(result)

    def select_each(self, fetch: Callable[[], Awaitable["Result"]]) -> Callable[[], Awaitable["Result"]]:
        """Return what fetches results repeatedly, as --columns and --filter choose them."""
        self._selects = True

        async def fetch_selected() -> "Result":
            return self.select(await fetch())

        return fetch_selected

    def emit(self, result: "Result") -> ExitStatus:
        """Write what is chosen of a result to stdout in the form of the output. Returns its exit status."""
        return self._write(self.select(result))

    def _write(self, result: "Result") -> ExitStatus:
        from jsctl.render.emit import emit, format_lines

        if result.is_report and self.form in ("table", "plain"):
            self.inform("\n".join(format_lines(result, "plain")))
            return result.status

        scheme = self._find_scheme() if self.color else ""
        width = self.width if self.is_terminal else None
        page = io.StringIO() if result.paged else None
        left_out = emit(
            result,
            page or self.streams.stdout,
            self.form,
            width=width,
            scheme=scheme,
            color=self.color,
            safe=self.is_terminal,
            heading_written=self._heading_written,
        )
        if page and not self.page(page.getvalue()):
            self.streams.stdout.write(page.getvalue())
        if left_out and not self._heading_written:
            titles = ", ".join(left_out)
            self.say(f"jsctl: {self.form} holds only one table; --json also has: {titles}")
        self._heading_written = True
        return result.status

    def page(self, text: str) -> bool:
        """Show a text with the pager, if the terminal has fewer lines. Returns whether that was so."""
        if self.session or not self.is_terminal or not self.streams.stdin.isatty():
            return False
        from jsctl.render.pager import show_page

        return show_page(text, self.streams.stdout, self.environ)

    @property
    def has_screen(self) -> bool:
        """Whether a live screen can be shown: not in a pipe, nor with --json, --as or --trace."""
        return self.form == "table" and self.is_terminal and self.trace is None and not is_dumb(self.environ)

    def _find_scheme(self) -> str:
        # With a broken context, the commands that repair it must still show their output.
        try:
            return self.settings().colors
        except JsctlError:
            return ""

    def discard_output(self, stream: TextIO | None = None) -> None:
        """Discard what is written to a stream from now on, by default stdout, as nobody can read it."""
        with contextlib.suppress(OSError, ValueError):  # a stream without a file
            os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or self.streams.stdout).fileno())

    # -- contexts and connections -----------------------------------------------------------------

    @property
    def contexts(self) -> "ContextStore":
        """The context files."""
        from jsctl.contexts.store import ContextStore

        return ContextStore.from_environment(self.environ)

    def context(self, name: str | None = None) -> "Context | None":
        """Return the context of this name, of --context or NATS_CONTEXT, or the selected one. Raises
        NotFound.
        """
        if name:
            return self.contexts.find(name)
        if self.flags.get("no_context"):
            return None
        store = self.contexts
        default = self.flags.get("context") or store.selected()
        return store.find(default) if default else None

    def format_select_hint(self) -> str:
        """Return what to do if the command line names neither server nor login, and no context is
        selected; empty if one is, or if there are none."""
        from jsctl.contexts.settings import METHODS

        flags, store = self.flags, self.contexts
        given = ("server", "context", "no_context", *METHODS)
        if any(flags.get(flag) for flag in given) or store.selected():
            return ""
        hint = store.format_select_hint()
        return f"no context is selected: {hint}" if hint else ""

    def settings(self, context: str | None = None, **flags: str) -> "Settings":
        """Return the settings of a context, with flags and environment applied.

        The environment does not replace the server or the login of a context that something names which
        `nats` does not have: another flag than --context, a file, or a verb of ours. context: such a name;
        None or empty for that of --context, or the selected one. flags: replace others. Raises BadInput,
        NotFound.
        """
        from jsctl.contexts.layers import resolve

        typed, found = self.get_typed_flags() | flags, self.context(context)
        if not context and not self.repeated.get("context"):
            return resolve(self.flags | flags, found, self.from_environment)
        if context or self.is_own_verb:
            return resolve(typed, found)
        settings = resolve(self.flags | flags, found, self.from_environment)
        if settings != resolve(typed, found):
            self._note_variables()
        return settings

    def get_typed_flags(self) -> dict[str, Any]:
        """Return the flags without what the environment says of servers and logins."""
        from jsctl.contexts.layers import FOR_ALL_CONTEXTS

        variables = self.from_environment - FOR_ALL_CONTEXTS
        return {name: value for name, value in self.flags.items() if name not in variables}

    def list_overriding_variables(self) -> list[str]:
        """Return the environment variables that replace the server or the login of contexts."""
        from jsctl.contexts.layers import FOR_ALL_CONTEXTS
        from jsctl.contexts.settings import FLAGS

        names = {"url" if flag == "server" else flag for flag in self.from_environment - FOR_ALL_CONTEXTS}
        return sorted(flag.variable for name, flag in FLAGS.items() if name in names)

    def _note_variables(self) -> None:
        """Say once which environment variables replace values of the context of the command line."""
        variables = self.list_overriding_variables()
        if variables and not self._has_noted_variables and not self.environ.get("_JSCTL_COMPLETE"):
            self._has_noted_variables = True
            verb = "goes" if len(variables) == 1 else "go"
            self.say(
                f"jsctl: {', '.join(variables)} {verb} before context {self.flags['context']}, as with nats;"
                " unset what is not meant"
            )

    async def connection(self, context: str | None = None) -> "Connection":
        """Return the connection of a context, which is opened once and closed when the command ends."""
        key = context or ""
        if key not in self._connections:
            settings = self.settings(context)
            connecting = self.session.connection(settings) if self.session else self.connect(settings)
            self._connections[key] = await connecting
        return self._connections[key]

    async def connect(self, settings: "Settings") -> "Connection":
        """Open a connection with these settings; it is closed when the command ends."""
        if self._stack is None:
            raise RuntimeError("open connections within Env.run")
        from jsctl.nats.connection import Connection
        from jsctl.nats.outage import ConnectionReporter

        reporter = ConnectionReporter(self.say)
        connection = await Connection.open(settings, on_event=reporter)
        self._stack.push_async_callback(connection.close)
        self._stack.callback(reporter.stop)
        return connection

    async def jetstream(
        self, context: str | None = None, domain: str | None = None, *, only_reads: bool = False
    ) -> "Api":
        """Return the JetStream API of a context. domain: replaces the context's domain and API prefix.
        only_reads: whether what the verb changes is elsewhere."""
        from jsctl.jetstream.api import Api

        connection = await self.connection(context)
        settings = connection.settings.at(domain)
        if not only_reads:
            self.note_place(settings)
        return Api(
            connection,
            domain=settings.js_domain,
            prefix=settings.js_api_prefix,
            trace=self.trace,
            warn=self.say,
        )

    def note_place(self, place: "Settings | str") -> None:
        """Note that the verb works there, at settings or at a place of this name; questions and announcements
        then say so."""
        self._places[place] = None

    @property
    def place(self) -> str:
        """Where the verb works, for questions and announcements: `hub@leaf`; several are separated by commas.
        Empty for one that has asked no server."""
        from jsctl.contexts.model import name_place
        from jsctl.render.text import clean

        places = self._places or [connection.settings for connection in self._connections.values()]
        names = (place if isinstance(place, str) else name_place(place) for place in places)
        return clean(", ".join(dict.fromkeys(names)))

    def locate(self, result: "Result") -> "Result":
        """Return the result of a --dry-run with the place above."""
        from jsctl.views.result import Text

        return result._replace(parts=[Text(f"[{self.place}]"), *result.parts]) if self.place else result

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a command's coroutine, and close every connection when it ends."""
        from jsctl.base import loops
        from jsctl.base.signals import raise_if_cancelled

        outcome: list[T] = []  # asyncio.run would format the result of a task as text

        async def scoped() -> None:
            async with AsyncExitStack() as stack:
                self._stack = stack
                try:
                    outcome.append(await work)
                finally:
                    self._connections.clear()
                    self._stack = None
                raise_if_cancelled()

        self.begin()
        try:
            (self.session.run if self.session else self.runner or loops.run_verb)(scoped())
        finally:
            if not self.session:
                work.close()  # ctrl-C may have come before it began
        return outcome[0]

    async def finish(self, verb: "Awaitable[Result | Events[Any] | None]") -> "Result | ExitStatus | None":
        """Await a verb and write the Events that it returns. Returns what to show last, or the exit
        status.
        """
        try:
            return await self._finish(verb)
        except MissingName as error:
            if not self.missing_ok:
                await _propose_name(error)
            raise

    async def _finish(self, verb: "Awaitable[Result | Events[Any] | None]") -> "Result | ExitStatus | None":
        from jsctl.base.loops import enter_event_loop
        from jsctl.views.result import Result

        outcome = await verb
        if outcome is None:
            return None
        if isinstance(outcome, Result):  # not Events: a verb without them has not imported these
            return self.locate(outcome) if self.dry_run else outcome
        if self.is_selective and not self._selects:
            raise BadInput("there is no table here", "leave out --columns and --filter")
        if outcome.has_background_work:
            await enter_event_loop()
        if outcome.live is not None and self.has_screen:
            from jsctl.screen.run import run_screen

            live, endless, show = outcome.live, outcome.end.endless, self._show_notices_with
            out, stdin, color = self.streams.stdout, self.streams.stdin, self.color
            return await run_screen(
                live,
                out,
                stdin,
                color=color,
                environ=self.environ,
                endless=endless,
                take_notices=show,
            )
        if not outcome.answers:
            return await self._write_events(outcome)
        from jsctl.render.unblocked import unblocked

        async with unblocked(self.streams):
            return await self._write_events(outcome)

    def _show_notices_with(self, show: Callable[[str], None] | None) -> None:
        self._show_notice = show

    def _show_gauge(self, gauge: "Gauge", quit: Callable[[], object]) -> "AbstractAsyncContextManager[None]":
        from jsctl.screen.run import screen_beside
        from jsctl.views.board import gauge_live

        out, stdin, show = self.streams.stdout, self.streams.stdin, self._show_notices_with
        return screen_beside(
            gauge_live(gauge),
            out,
            stdin,
            quit,
            color=self.color,
            environ=self.environ,
            take_notices=show,
        )

    async def _write_events(self, events: "Events[Any]") -> "Result | ExitStatus | None":
        from jsctl.render.event_writer import write_events

        self.writes_lines = events.shown.layout == "lines"
        return await write_events(
            events,
            self.streams.stdout,
            self.form,
            say=self.say,
            emit=self._write,
            screen=self._show_gauge if self.has_screen else None,
            width=self.width if self.is_terminal else None,
        )

    def announce(self, intent: "Intent") -> None:
        """With --dry-run, end the verb before it changes anything: raise DryRun with what it would do."""
        if self.dry_run:
            raise DryRun(intent.result(self.place))

    def report_missing(self, error: JsctlError) -> None:
        """With --missing-ok, report something that does not exist; raise any other error."""
        if not self.missing_ok or error.status is not ExitStatus.NOT_FOUND:
            raise error
        self.inform(f"jsctl: {error.message}")

    async def confirm(self, intent: "Intent", *, force: bool, flag: str = "--force") -> None:
        """Ask before something is destroyed; with --dry-run, raise DryRun with what would be.

        Raises Declined when the answer is no; BadInput, which names the flag, without a terminal.
        """
        self.announce(intent)
        if not force:
            await self.require_yes(intent.asked(), flag=flag)

    async def require_yes(self, question: str, *, flag: str = "--force") -> None:
        """Ask before a change that has already been shown.

        Raises Declined when the answer is no; BadInput, which names the flag, without a terminal.
        """
        if not await self.prompter.confirm(question, flag=flag, default=False):
            raise Declined("nothing was changed")

    @property
    def trace(self) -> Callable[[str, str], None] | None:
        """A function that writes JetStream requests and replies to stderr; None without --trace."""
        return self._trace if self.flags.get("trace") else None

    def _trace(self, subject: str, body: str) -> None:
        self.say(f"{subject}\n{body}\n" if body else f"{subject}\n")


def strip_logins(text: str) -> str:
    """Return a message without the logins in its addresses; see `contexts.model.strip_logins`."""
    if "@" in text or "://" in text:
        from jsctl.contexts import model  # takes 8 ms to import

        return model.strip_logins(text)
    return text


async def _propose_name(error: MissingName) -> None:
    """Add the most similar existing name to the hint, if the names arrive within a second."""
    from jsctl.base.loops import time_limit
    from jsctl.base.similar_names import find_nearest

    try:
        async with time_limit(1):
            nearest = find_nearest(error.name, await error.list_names())
    except (JsctlError, TimeoutError):
        return
    if nearest:
        error.hint = f"did you mean {nearest}? {error.hint}"
