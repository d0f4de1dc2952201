"""Names that do harm, for every verb: as an argument, and as what servers hold and tell.

What is shown is escaped, nothing is executed, and none is taken for a flag or a template.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from jsctl.errors import ApiError
from tests.contract.test_nouns import command_line
from tests.fuzz.commands import VERB_NAMES, is_endless, lines, make_again, prepare, without_spark
from tests.fuzz.record import Record, cases
from tests.fuzz.test_answers import run
from tests.support import js
from tests.support.run import Cli, Outcome

ARGUMENTS = (
    "\x1b[2J\x1b]0;x\x07",
    "a\nb\r\nc",
    "\u202egnp.exe",
    "\ud800\udfff",
    "--force",
    "-",
    "{{Random 1 99999999}}",
    "$(touch pwned)",
    "`touch pwned`; touch pwned",
    "x" * 1000,
    "",
    " ",
    ".",
    "../../etc/passwd",
    "*",
    ">",
    "a..b",
    "\0",
    "%s%n{0}{}",
    "[bold red]x[/]",
    "é\u0301\u200b",
)

HELD = (
    "\x1b[2J\x07",
    "a\x01b\x7f",
    "\u202egnp",
    "\u200b\x9b1m",
    "{{Count}}",
    "$(touch${IFS}pwned)",
    "[red]x[/]",
)
"""Names that a server takes for streams, consumers and keys."""

CHANGING = (" rm", " purge", " del", " seal", " restore", " next")
"""Verbs after which there is less to show."""

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


class Shown(Cli):
    """It keeps what was shown last."""

    last: Outcome

    def __call__(self, *args: object, **more: object) -> Outcome:
        self.last = super().__call__(*args, **more)  # type: ignore[arg-type]
        return self.last


def try_line(cli: Shown, line: list[str], path: str, url: str, record: Record, faults: list[str]) -> None:
    try:
        run(cli, None, line, record, endless=is_endless(path), url=url)
        unsafe = UNSAFE.search(cli.last.out + cli.last.err)
        assert not unsafe, (line, unsafe, (cli.last.out + cli.last.err)[-700:])
    except Exception as fault:
        faults.append(f"{line}: {str(fault)[-900:]!r} {fault!r}"[:1500])


@pytest.mark.long
def test_arguments(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cli = Shown(tmp_path, url)
    prepare(cli, url, tmp_path)
    faults: list[str] = []
    with without_spark(), Record("hostile names as arguments") as record:
        for number, path in enumerate(lines(tmp_path)):
            names = {noun: f"NAME{at}" for at, noun in enumerate(VERB_NAMES)}
            marked = command_line(path, names, tmp_path)
            for at in range(min(cases(2), len(ARGUMENTS))):
                name = ARGUMENTS[(number * 5 + at * 11) % len(ARGUMENTS)]
                line = [name if re.fullmatch(r"NAME\d+", word) else word for word in marked]
                if line == marked:
                    break
                line += ["--timeout", "300ms"]
                try_line(cli, line, path, url, record, faults)
            make_again(url)
    assert not faults, "\n".join(faults)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.long
def test_what_a_server_holds(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams, consumers, keys and objects with such names, descriptions and metadata, for each verb that
    lists or shows them."""
    monkeypatch.chdir(tmp_path)
    cli = Shown(tmp_path, url)
    prepare(cli, url, tmp_path)
    for name in HELD:
        text: dict[str, Any] = {"description": f"{name}\nx\ud7ff", "metadata": {f"{name}\n": f"{name}\r\n"}}
        try:
            js.stream(url, name, f"s{name}".replace(" ", ""), **text)
            js.ask(
                url,
                f"CONSUMER.DURABLE.CREATE.ORDERS.{name}",
                {"stream_name": "ORDERS", "config": {"durable_name": name, "ack_policy": "explicit", **text}},
            )
        except ApiError as error:
            print(name, error)
        js.publish(url, f"ORDERS.{name}", name.encode())
        js.publish(url, f"$KV.CONFIG.{name}", name.encode())
    for name in (*HELD, "a\nb"):
        cli(["object", "put", "FILES", "-", "--name", name, "--force"], stdin="x")
    faults: list[str] = []
    with without_spark(), Record("hostile names that a server holds") as record:
        for number, (path, line) in enumerate(lines(tmp_path).items()):
            if path.endswith(CHANGING) or (is_endless(path) and cases(1) == 1):
                continue
            for more in ([], ["--json"]) if cases(1) > 1 else ([["--json"], []][number % 2],):
                try_line(cli, [*line, *more], path, url, record, faults)
    assert not faults, "\n".join(faults)
    assert not (tmp_path / "pwned").exists()
