"""`jsctl server mappings`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.nats.transform import SubjectTransform
from jsctl.views.result import Result, Text


@command("mappings", examples=["jsctl server mappings 'orders.*.*' 'o.{{partition(3,1)}}.$2' orders.nl.new"])
@argument("source", required=False, default="")
@argument("destination", metavar="[DEST]", required=False, default="")
@argument("subject", required=False, default="")
async def mappings(env: Env, source: str, destination: str, subject: str) -> Result:
    """Map SUBJECT from SOURCE to DEST as a server does. No server is asked."""
    prompter = env.prompter
    source = source or await prompter.text("Source subject pattern", flag="SOURCE")
    destination = destination or await prompter.text("Destination subject pattern", flag="DEST")
    transform = SubjectTransform(source, destination)
    subject = subject or await prompter.text("Subject to transform", flag="SUBJECT")
    mapped = transform.apply(subject)
    if mapped is None:
        raise NotFound(f"{subject!r} does not match {source!r}", "the mapping does not apply to it")
    return Result([Text(mapped, whole=True)], data={"subject": subject, "mapped": mapped})
