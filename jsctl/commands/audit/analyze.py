"""`jsctl audit analyze`."""

import json
from dataclasses import dataclass

import click

from jsctl.base.files import is_replaced, naming_write_errors, write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.audit.analysis import analyze as run_checks
from jsctl.monitor.audit.analysis import load_report
from jsctl.monitor.audit.archive import Archive
from jsctl.views.audit import report as view
from jsctl.views.intent import file_intent
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    archive: str
    max_examples: int
    skip: tuple[str, ...]
    load: str
    save: str
    force: bool
    markdown: bool
    verbose: bool

    def __post_init__(self) -> None:
        if bool(self.archive) == bool(self.load):
            raise BadInput("there is nothing to analyze", "name an archive, or a saved report with --load")
        if self.load and (self.save or self.skip):
            raise BadInput("--load cannot be used with --save and --skip", "it shows what was saved")


@command(
    "analyze",
    columns=(),
    examples=[
        "jsctl audit analyze audit.zip",
        "jsctl audit analyze audit.zip --skip SERVER_007 --save report.json",
        "jsctl audit analyze --load report.json --markdown",
    ],
)
@argument("archive", required=False, default="", type=click.Path())
@option("--max-examples", type=click.IntRange(min=0), default=5, help="Examples of each check, 0 for all (5)")
@option("--skip", metavar="CODE", multiple=True, help="Do not run this check; may be repeated")
@option("--load", metavar="FILE", default="", help="Show a report that was saved")
@option("--save", metavar="FILE", default="", help="Save the report to a file")
@destructive("Replace a file without asking")
@option("--markdown", is_flag=True, help="Print the report as Markdown")
@option("--verbose", is_flag=True, help="Show thresholds, too")
async def analyze(env: Env, options: Options) -> Result:
    """Read an ARCHIVE of jsctl audit gather, or of the audit gather of the nats tool; no server is asked. The
    nats tool can load a saved report, too.
    """
    if options.load:
        document = load_report(options.load)
    else:
        with Archive(str(expand_home(options.archive))) as archive:
            document = run_checks(archive, options.skip, options.max_examples, env.clock())
    if options.save:
        await _save(env, options, document)
    if options.markdown:
        return view.markdown(document, options.max_examples)
    path = options.archive or options.load
    return view.report(document, path, options.max_examples, verbose=options.verbose)


async def _save(env: Env, options: Options, document: object) -> None:
    path = expand_home(options.save)
    if env.dry_run or is_replaced(path):
        await env.confirm(file_intent("the report", path), force=options.force)
    with naming_write_errors(path):
        write_atomically(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n", mode=None)
