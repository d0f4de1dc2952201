"""Contexts and domains that do not answer."""

from collections.abc import Iterator

from jsctl.base.command_lines import build_line
from jsctl.errors import Unreachable
from jsctl.jetstream.api import build_api_prefix
from jsctl.monitor.doctor.snapshot import ContextView, Snapshot
from jsctl.monitor.rules.contexts import choose_code
from jsctl.monitor.trouble import Trouble


def context_failed(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield contexts through which nothing can be seen, or that lack a permission."""
    for context in snapshot.contexts:
        if context.error is not None:
            yield Trouble.of_network(
                "CONTEXT_FAILED",
                f"context {context.name}",
                context.error.message,
                "nothing that this context reaches was checked",
                _describe_fix(context),
                [f"context {context.name}"],
            )
    for view in snapshot.domains:
        if view.error is not None and choose_code(view.error) == "CONTEXT_FAILED":
            yield Trouble.of_network(
                "CONTEXT_FAILED",
                f"context {view.context}",
                f"{view.where}: {view.error.message}",
                "its streams were not checked",
                view.error.hint or "grant the user the permission, or use another context",
                [f"context {view.context}"],
            )


def _describe_fix(context: ContextView) -> str:
    edit = build_line("context edit", context.name)
    if isinstance(context.error, Unreachable):
        return f"start its servers, or correct its address: {edit}"
    hint = context.error.hint if context.error else ""
    return f"{hint or 'correct it'}: {edit}"


def domain_missing(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield domains and API prefixes that a context names and where nobody answers."""
    for view in snapshot.domains:
        if view.error is not None and choose_code(view.error) == "DOMAIN_MISSING":
            domains = sorted({server.domain for server in snapshot.servers if server.jetstream} - {""})
            reachable = f"; the domains within reach are {', '.join(domains)}" if domains else ""
            yield Trouble.of_network(
                "DOMAIN_MISSING",
                f"domain {view.domain}" if view.domain else f"API prefix {view.prefix}",
                f"nobody answers on {view.prefix}, which context {view.context} names{reachable}",
                "its streams cannot be reached from here, and mirrors of them copy nothing",
                "start its servers, connect their leaf node with a remote for this account, or name another"
                f" domain: {build_line('context edit', view.context)}",
                [f"prefix {view.prefix}", *snapshot.copies_through(view.prefix)],
            )


def jetstream_silent(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield domains that accept requests and do not answer in time."""
    for view in snapshot.domains:
        if view.error is not None and choose_code(view.error) == "JETSTREAM_SILENT":
            yield Trouble.of_network(
                "JETSTREAM_SILENT",
                f"domain {view.domain}" if view.domain else f"JetStream of context {view.context}",
                view.error.message,
                "streams cannot be listed, created or changed",
                f"see which servers answer with {snapshot.build_system_line('server list')}, and read their"
                " logs; --timeout waits longer",
                [f"domain {view.domain}", *snapshot.copies_through(build_api_prefix(view.domain))],
            )
