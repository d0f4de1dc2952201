"""The files of `auth nkey`: keys, data and sealed data."""

from pathlib import Path

from jsctl.auth.keys import KeyPair, find_key_text, is_seed, parse_seed
from jsctl.base.files import PRIVATE, escape_path, open_output, read_bytes, read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import option
from jsctl.commands.cli.declare import Decorator
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Result, Text

_DATA_SIZE = 1 << 30
"""Maximum number of bytes of a file that is signed or sealed."""


def read_key_text(file: str) -> str:
    """Return the seed or public key in a file. Raises BadInput, without quoting the file."""
    path = expand_home(file)
    text = find_key_text(read_text(path))
    if not text:
        raise BadInput(
            f"{escape_path(path)} contains no seed or public key",
            "use a file that has one on a line of its own",
        )
    return text


def read_key_file(file: str) -> KeyPair:
    """Return the key pair of the seed in a file. Raises BadInput."""
    text = read_key_text(file)
    if not is_seed(text):
        raise BadInput(f"{escape_path(Path(file))} has only a public key", "use a file with a seed")
    return parse_seed(text)


def read_public_key(file: str) -> str:
    """Return the public key in a file, or that of its seed. Raises BadInput."""
    text = read_key_text(file)
    return parse_seed(text).public if is_seed(text) else text


def read_data(file: str) -> bytes:
    """Return the content of a file. Raises BadInput."""
    return read_bytes(expand_home(file), "", _DATA_SIZE)


def base64_option(help: str) -> Decorator:
    """Declare --b64."""
    return option("--b64/--no-b64", "b64", default=True, help=help)


def write_or_show(env: Env, data: bytes, output: str) -> Result:
    """Write to a file, or show it: text as a line, other bytes unchanged on stdout. Raises BadInput."""
    if output:
        with open_output(output, mode=PRIVATE) as file:
            file.write(data)
        return Result(data={"output": output, "bytes": len(data)})
    try:
        text = data.decode()
    except UnicodeDecodeError:
        if env.is_terminal or env.wants_json:
            raise BadInput("the data is not text", "write it to a file with --output") from None
        env.streams.stdout.flush()
        with open_output("/dev/stdout") as file:
            file.write(data)
        return Result()
    return Result([Text(text, whole=True)], data={"data": text})
