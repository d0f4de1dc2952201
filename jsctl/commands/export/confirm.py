"""What is shown and asked before an export writes its tables."""

from collections.abc import Sequence

from jsctl.env import Env
from jsctl.spark.export.targets import TablesTarget
from jsctl.views.export.export import intent


def confirm_tables(env: Env, target: TablesTarget, existing: Sequence[str], *, force: bool) -> None:
    """With --dry-run, end with which tables would be written; else ask before those that exist are replaced.

    Raises DryRun, Declined, BadInput.
    """
    path = str(target.path)
    env.announce(intent(target.tables, existing, path))
    if existing:
        env.run(env.confirm(intent(existing, existing, path), force=force))
