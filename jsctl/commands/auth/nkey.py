"""`jsctl auth nkey`."""

import base64
import binascii
from collections.abc import Callable
from pathlib import Path

import click

from jsctl.auth.keys import CURVE, KINDS, create_key, find_key_kind, verify_signature
from jsctl.base.command_lines import build_line
from jsctl.base.files import escape_path, open_pipe, write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.commands.auth.credentials import check_free
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.operators.key_files import (
    base64_option,
    read_data,
    read_key_file,
    read_public_key,
    write_or_show,
)
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.views.intent import file_intent
from jsctl.views.result import Result, Text

_X25519 = "x25519"


@command(
    "gen", examples=["jsctl auth nkey gen user --public", "jsctl auth nkey gen curve --output backup.nk"]
)
@argument("type", metavar="TYPE", type=click.Choice([*KINDS, _X25519]))
@option("--public", is_flag=True, help="Show the public key, too")
@option("--entropy", metavar="FILE", default="", help="Take the random bytes from this file or device")
@option("--output", metavar="FILE", default="", help="Write the seed to a file instead of showing it")
@destructive("Overwrite the file")
def gen(env: Env, type: str, public: bool, entropy: str, output: str, force: bool) -> Result:
    """Use user, account, server, cluster, operator, curve or x25519 as TYPE; the last two are the same.

    Without --output, the seed is shown: keep it secret.
    """
    check_free(output, force=force)
    kind = CURVE if type == _X25519 else type
    key = create_key(kind, _make_reader(entropy)) if entropy else create_key(kind)
    if output:
        path = expand_home(output)
        env.announce(file_intent(f"a new seed of kind {kind}", path))
        write_atomically(path, key.seed + "\n" + (key.public + "\n" if public else ""))
        shown = [key.public] if public else []
        data = {"kind": kind, "public": key.public, "output": output}
        return Result([Text("\n".join(shown), whole=True)] if shown else [], data=data)
    lines = [key.seed, *([key.public] if public else [])]
    data = {"kind": kind, "public": key.public, "seed": key.seed}
    return Result([Text("\n".join(lines), whole=True)], data=data)


def _make_reader(file: str) -> Callable[[int], bytes]:
    """Return a function that reads random bytes from a file."""

    def read(size: int) -> bytes:
        with open(expand_home(file), "rb", opener=open_pipe) as source:
            data = source.read(size)
        if len(data) < size:
            raise BadInput(f"{escape_path(Path(file))} has only {len(data)} bytes", f"{size} are needed")
        return data

    return read


@command("show", examples=["jsctl auth nkey show backup.nk"])
@argument("key_file", metavar="KEY")
def show(env: Env, key_file: str) -> Result:
    """Read the seed from the file KEY, which may also be a credentials file."""
    public = read_public_key(key_file)
    return Result([Text(public, whole=True)], data={"kind": find_key_kind(public), "public": public})


@command("sign", examples=["jsctl auth nkey sign release.tar operator.nk > release.sig"])
@argument("file")
@argument("key_file", metavar="KEY")
def sign(env: Env, file: str, key_file: str) -> Result:
    """Use the seed in the file KEY. The signature is URL-safe base64 without padding."""
    pair = read_key_file(key_file)
    signature = base64.urlsafe_b64encode(pair.sign(read_data(file))).decode().rstrip("=")
    return Result([Text(signature, whole=True)], data={"public": pair.public, "signature": signature})


@command("verify", examples=["jsctl auth nkey verify release.tar release.sig operator.pub"])
@argument("file")
@argument("signature")
@argument("key_file", metavar="KEY")
def verify(env: Env, file: str, signature: str, key_file: str) -> Result:
    """Use the public key or seed in the file KEY. The exit status is 1 if the signature is invalid."""
    public = read_public_key(key_file)
    encoded = read_data(signature).strip()
    try:
        raw = base64.b64decode(encoded + b"=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise BadInput(
            f"{signature} is not a signature", f"create one with {build_line('auth nkey sign')}"
        ) from None
    if not verify_signature(public, read_data(file), raw):
        raise JsctlError(f"{public} did not sign {file}", "check the file, the signature and the key")
    return Result([Text("Verified OK", "good")], data={"public": public, "verified": True})


@command("seal", examples=["jsctl auth nkey seal report.pdf mine.nk XDZPPDM... --output report.sealed"])
@argument("file")
@argument("key_file", metavar="KEY")
@argument("recipient")
@option("--output", metavar="FILE", default="", help="Write the result to a file")
@base64_option("Write base64 (by default)")
def seal(env: Env, file: str, key_file: str, recipient: str, output: str, b64: bool) -> Result:
    """Use the curve seed in the file KEY, and RECIPIENT, the public curve key of the reader."""
    sealed = read_key_file(key_file).seal(read_data(file), recipient)
    return write_or_show(env, base64.b64encode(sealed) if b64 else sealed, output)


@command("unseal", examples=["jsctl auth nkey unseal report.sealed mine.nk XBGDJYM... --output report.pdf"])
@argument("file")
@argument("key_file", metavar="KEY")
@argument("sender")
@option("--output", metavar="FILE", default="", help="Write the data to a file")
@base64_option("Read base64 (by default)")
def unseal(env: Env, file: str, key_file: str, sender: str, output: str, b64: bool) -> Result:
    """Use the curve seed in the file KEY, and SENDER, the public curve key of the sender."""
    sealed = read_data(file)
    if b64:
        try:
            sealed = base64.b64decode(sealed.strip(), validate=True)
        except binascii.Error:
            raise BadInput(f"{file} is not base64", "use --no-b64 for binary data") from None
    return write_or_show(env, read_key_file(key_file).unseal(sealed, sender), output)
