"""The questionnaire of `stream add`: what is wrong is told at once, help, the way back, the command line."""

import shlex
from collections.abc import Iterator

import pexpect
import pytest

from jsctl.prompts.prompter import GoBack
from tests.support.run import Cli, Terminal


@pytest.fixture
def have(cli: Cli) -> Cli:
    """With a stream HAVE on have.>."""
    cli("stream add HAVE --subjects 'have.>' --defaults", status=0)
    return cli


@pytest.fixture
def screen(have: Cli) -> Iterator[Terminal]:
    """`stream add` at its first question, in 80 columns."""
    child = have.terminal("stream add", columns=80)
    child.expect_exact("shift-tab goes back")
    child.expect_exact("Stream Name")
    yield child
    child.close(force=True)


def end(screen: Terminal) -> int | None:
    screen.expect(pexpect.EOF)
    screen.wait()
    return screen.exitstatus


@pytest.mark.slow
def test_in_a_terminal(have: Cli, screen: Terminal) -> None:
    screen.send("?")
    screen.expect_exact("A name without dots, spaces, wildcards or slashes")
    screen.expect_exact("On the command line: the stream's name")
    screen.send("HAVE\r")
    screen.expect_exact("stream HAVE already exists; jsctl stream edit HAVE changes it")
    screen.send("\x15NEW\r")
    screen.expect_exact("Subjects")
    screen.send("have.a\r")
    screen.expect_exact("have.a overlaps with stream HAVE, which stores have.>")
    screen.send("\x17new.>\r")
    screen.expect_exact("Storage")
    screen.send("?")
    screen.expect_exact("On the command line: --storage")
    screen.send("\x1b[B\r")  # memory
    screen.expect_exact("Replication")
    screen.send("\x1b[Z")  # back
    screen.expect_exact("Storage")
    screen.send("\r")  # what was chosen stays
    screen.expect_exact("Replication")
    screen.send("\r")
    screen.expect_exact("Retention Policy")
    screen.send("\r")
    screen.expect_exact("Discard Policy")
    screen.send("\r")
    screen.expect_exact("Stream Messages Limit")
    screen.send("7\r")  # in the place of the default
    screen.expect_exact("Per Subject Messages Limit")
    screen.send("\r")
    screen.expect_exact("Total Stream Size")
    screen.send("\r")
    screen.expect_exact("Message TTL")
    screen.send("\r")
    screen.expect_exact("Max Message Size")
    screen.send("\r")
    screen.expect_exact("Duplicate tracking time window")
    screen.send("\x01\x041\r")  # readline: to the start, delete, 1: 1m instead of 2m
    for question in ("Allow message Roll-ups", "Allow message deletion", "Allow purging"):
        screen.expect_exact(question)
        screen.send("\r")
    screen.expect_exact("Stream NEW was created")
    screen.expect_exact("The same without questions:")
    assert end(screen) == 0
    config = have("stream info NEW --json", status=0).json["config"]
    assert (config["storage"], config["max_msgs"]) == ("memory", 7)
    assert config["duplicate_window"] == 60 * 10**9


@pytest.mark.slow
def test_the_command_line_stays_when_it_fails(have: Cli) -> None:
    screen = have.terminal(
        "stream add R3 --subjects r3 --storage file --retention limits --discard old", rows=50
    )
    try:
        screen.expect_exact("Replication")
        screen.send("3\r")
        for question in ("Stream Messages", "Per Subject", "Stream Size", "TTL", "Message Size", "window"):
            screen.expect_exact(question)
            screen.send("\r")
        for question in ("Roll-ups", "deletion", "purging"):
            screen.expect_exact(question)
            screen.send("\r")
        screen.expect_exact("jsctl: error: ")
        screen.expect_exact("The same without questions:")
        screen.expect_exact("jsctl stream add R3 --subjects r3 --replicas 3 --defaults")
        assert end(screen) == 1
    finally:
        screen.close(force=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("stream add HAVE --subjects x", "stream HAVE already exists"),
        ("stream add NEW --subjects have.a", "have.a overlaps with stream HAVE, which stores have.>"),
        ("stream add NEW --subjects a.b,a.*", "a.b and a.* overlap"),
    ],
)
def test_what_the_command_line_has_is_looked_at_before_the_first_question(
    have: Cli, line: str, words: str
) -> None:
    failed = have(line, answers=[], status=1)
    assert words in failed.err and failed.asked == []


def test_nothing_is_looked_up_for_a_file(have: Cli) -> None:
    outcome = have("stream add HAVE --subjects have.a --output -", answers={}, status=0)
    assert outcome.json["name"] == "HAVE"


def test_the_way_back(have: Cli) -> None:
    answers = ["WRONG", GoBack, "RIGHT", "right", "memory", GoBack, GoBack, "better", ..., *[...] * 12]
    outcome = have("stream add", answers=answers, status=0)
    assert outcome.asked[:9] == [
        "Stream Name",
        "Subjects",
        "Stream Name",
        "Subjects",
        "Storage",
        "Replication",
        "Storage",
        "Subjects",
        "Storage",
    ]
    config = have("stream info RIGHT --json", status=0).json["config"]
    assert (config["subjects"], config["storage"]) == (["better"], "memory")
    assert have("stream ls --names", status=0).out == "HAVE\nRIGHT\n"


def test_the_command_line_makes_the_same_stream(have: Cli) -> None:
    line = have(
        "stream add ONE --source HAVE --source HAVE@far,filter=a:b",
        answers=[
            *("memory", ..., "Work Queue", "New", "5", "1MB", "36h", "1KB", "90s", ..., False, False),
            *(False, True, "7", True, "a.>", "b.>", "c", "", "", True, "leaf", "d"),
            *(True, "DUR", "deliver.here", False),
        ],
    ).err.splitlines()[-1]
    one = have("stream info ONE --json", status=0).json["config"]
    have("stream rm ONE -f", status=0)
    have(shlex.split(line)[1:], status=0)
    assert have("stream info ONE --json", status=0).json["config"] == one


@pytest.mark.slow
def test_ctrl_c_leaves_what_was_answered(screen: Terminal, have: Cli) -> None:
    screen.send("NEW\r")
    screen.expect_exact("Subjects")
    screen.send("new.>\r")
    screen.expect_exact("Storage")
    screen.send("\x1b[B\r")  # memory
    screen.expect_exact("Replication")
    screen.send("\x03")
    screen.expect_exact("interrupted; nothing was changed")
    screen.expect_exact("With the answers so far:")
    screen.expect(r"  (jsctl stream add NEW [^\r]*(\r\n +[^\r]+)*)")
    line = " ".join(str(screen.match[1]).split())  # type: ignore[index]
    assert "--subjects 'new.>'" in line and "--storage memory" in line and "--defaults" in line
    assert end(screen) == 130
    have(shlex.split(line)[1:], status=0)
    assert have("stream info NEW --json", status=0).json["config"]["storage"] == "memory"


@pytest.mark.slow
@pytest.mark.parametrize("answers", [[], ["NEW\r", "new.>\r"]], ids=["text", "choice"])
def test_ctrl_d_says_that_nothing_was_changed(screen: Terminal, answers: list[str]) -> None:
    questions = ["Stream Name", "Subjects", "Storage"]
    for question, answer in zip(questions[1:], answers, strict=False):
        screen.send(answer)
        screen.expect_exact(question)
    screen.send("\x04")
    screen.expect_exact("interrupted; nothing was changed")
    assert end(screen) == 130


def test_the_command_line_says_where(cli: Cli, url: str) -> None:
    cli("context add here --server " + url, status=0)
    outcome = cli("stream add --context here", answers={"Stream Name": "NEW", "Subjects": "new.>"})
    assert "--context here" in outcome.err.splitlines()[-1], outcome


def test_the_line_to_repeat_has_the_user_and_names_what_takes_the_password(cli: Cli, url: str) -> None:
    user, address = url.removeprefix("nats://").split("@")
    user = user.partition(":")[0]
    del cli.environ["NATS_URL"]
    answers = {"Stream Name": "NEW", "Subjects": "new.>"}
    shown = cli(["stream", "add", "--server", url], answers=answers, status=0).err
    assert "The same without questions, with the secret in NATS_PASSWORD:\n" in shown
    line = shown.splitlines()[-1].split("jsctl ", 1)[1]
    assert f"--server nats://{address} --user {user}" in line
    cli("stream rm NEW --force", environ={"NATS_URL": url}, status=0)
    cli(line, environ={"NATS_PASSWORD": user}, status=0)
