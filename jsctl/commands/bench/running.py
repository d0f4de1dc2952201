"""The course of a benchmark, from its plan to its result, for every verb of `jsctl bench`."""

import contextlib
import signal
from typing import Any

from jsctl.base.files import write_output
from jsctl.base.signals import handle_signals
from jsctl.base.units import pluralize
from jsctl.bench import targets
from jsctl.bench.crew import Bench, count_processes
from jsctl.bench.limits import find_limit
from jsctl.bench.plan import Kind, Plan
from jsctl.commands.bench.flags import SharedFlags
from jsctl.env import Env
from jsctl.errors import ExitStatus, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.change_estimate import estimate_stream_loss
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.protection import refuse_protected
from jsctl.nats.login import with_files
from jsctl.nats.templates import generate_id
from jsctl.views.bench import result as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result


def make_plan(kind: Kind, flags: SharedFlags, **more: Any) -> Plan:
    """Return the plan of a benchmark. more: its further fields."""
    processes = (
        count_processes(flags.clients) if flags.processes is None else min(flags.processes, flags.clients)
    )
    return Plan(
        kind,
        messages=flags.messages,
        clients=flags.clients,
        processes=processes,
        sleep=flags.sleep,
        rate=flags.rate,
        duration=flags.duration,
        warm_up=flags.warm_up,
        run=f"bench-{generate_id()}",
        **more,
    )


async def run(env: Env, plan: Plan, flags: SharedFlags) -> Result:
    """Run a benchmark. After a failure, its measurements so far are shown, too."""
    connection = await env.connection()
    await connection.close()  # the clients have their own, and report their end
    if not env.wants_json:
        tell = env.say if plan.kind == "sub" else env.inform  # that one waits for others
        tell(view.announcement(plan, len(plan.payload)))
    with contextlib.ExitStack() as stack:
        steps = plan.total if flags.progress else 0
        advance = stack.enter_context(env.progress(view.NAMES[plan.kind][0], steps))
        settings = await with_files(env.settings())  # other processes cannot read our pipes
        bench = Bench(plan, settings, connection.url, advance=advance)
        with handle_signals(bench.stop, once=True) as arrived:
            outcome, failure = await bench.run()
    result = view.result(plan, outcome, find_limit(plan, outcome), plot=flags.plot)
    if flags.csv:
        write_output(flags.csv, view.csv_lines(plan, outcome))
    if flags.hdr:
        write_output(flags.hdr, view.hdr_log(outcome, env.clock()))
    if signal.SIGTERM in arrived:
        result = result._replace(status=ExitStatus.TERMINATED)
    if result.status is ExitStatus.INTERRUPTED and not outcome.messages:
        raise KeyboardInterrupt
    if failure is not None:
        if not outcome.messages:
            raise failure
        return result._replace(error=failure)
    return result


_OTHER = "use another stream for benchmarks"

DRY_RUN = "Only show what would be created, changed, purged and run"
"""The help of --dry-run."""


async def announce(
    env: Env, api: Api, plan: Plan, stream: str, *, purges: bool, creates: Json | None = None
) -> None:
    """End a dry run with what would be done to the stream first.

    creates: the configuration, if the benchmark creates the stream. Raises BadInput for a change that servers
    refuse.
    """
    if not env.dry_run:
        return
    info = await streams.fetch_info_or_none(api, stream)
    if info is None and creates is None:
        return  # the next request for the stream raises NotFound
    keys = targets.list_changes(info, creates) if info and creates else []
    env.announce(view.intent(plan, stream, info, keys, purges=purges))


async def purge(env: Env, api: Api, info: Json, *, force: bool) -> Json:
    """Remove a stream's messages, after a question when the stream serves more than benchmarks. Returns its
    info.
    """
    refuse_protected([info], hint=_OTHER)
    name, messages = info["config"]["name"], int(info["state"]["messages"])
    if targets.needs_consent(info):
        data_loss = f"all {pluralize(messages, 'message')} of stream {name}, which no benchmark created"
        facts = {"stream": name, "messages": messages, "bytes": info["state"]["bytes"]}
        may_purge = force or env.mirrors_nats  # BENCH_STREAM
        await env.confirm(Intent(f"remove {data_loss}", facts), force=may_purge)
    await streams.purge(api, name)
    return await streams.fetch_info(api, name)


async def create_stream(env: Env, api: Api, config: Json, *, force: bool) -> None:
    """Create a stream, or change it as needed, after asking if others may need it unchanged."""
    info = await streams.fetch_info_or_none(api, str(config["name"]))
    if info is None:
        await streams.create(api, config)
        return
    keys = targets.list_changes(info, config)
    if not keys:
        return
    if not targets.is_own(info):
        key_list = ", ".join(sorted(keys))
        data_loss = f"{key_list} of stream {config['name']}, which no benchmark created"
        facts = {"stream": config["name"], "keys": sorted(keys)}
        may_change = force or env.mirrors_nats  # BENCH_STREAM
        await env.confirm(Intent(f"change {data_loss}", facts), force=may_change)
        after = {**info["config"], **{key: config[key] for key in keys}}
        if loss := await estimate_stream_loss(api, info, after):
            raise JsctlError(f"this deletes {loss} of stream {config['name']}", _OTHER)
    await targets.change(api, info, config, keys)
