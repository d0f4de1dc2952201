"""An edited copy of a stream's backup, made without a server (jsm.go: backup/edit.go)."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from jsctl.base.files import resolve_path, write_atomically
from jsctl.base.posix import open_private
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup import files
from jsctl.jetstream.backup.archive_editor import Edit, Editor
from jsctl.jetstream.backup.edit_options import EditOptions
from jsctl.jetstream.backup.encryption import ENDING, create_file, encrypt
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.obfuscation import Obfuscator, read_key_file
from jsctl.jetstream.backup.target import BackupTarget, lock_target, remove_path
from jsctl.jetstream.backup.writer import naming, put_backup, sync
from jsctl.jetstream.kv.names import build_subject_prefix, is_bucket, stream_to_bucket


def edit_backup(backup: files.Backup, target: Path, options: EditOptions, advance: Advance) -> Edit:
    """Write an edited copy of a backup to a folder or .tgz file that does not exist, or to an empty folder;
    of an obfuscated one also the key file, beside it.

    advance: called with the number of bytes read, in each pass. Raises BadInput, JsctlError; nothing is left
    then.
    """
    if options.kv_compact and not _is_bucket(backup.config):
        raise BadInput(
            f"--kv-compact requires a KV bucket backup; stream {backup.stream} is not one",
            "--last-per-subject 1 keeps the newest message of each subject",
        )
    obfuscator = None
    if options.obfuscate:
        obfuscator = read_key_file(options.key_file) if options.key_file else Obfuscator()
    if backup.is_encrypted and not (options.recipients or options.decrypt):
        raise BadInput(
            f"the backup in {backup.path} is encrypted, and its copy would not be",
            "add --encrypt-to, or --decrypt for a copy in clear",
        )
    editor = Editor(backup, options, obfuscator, advance)
    if options.dry_run:
        editor.run(None)
        return editor.build_result()
    key_file = target.with_name(target.name + ".keys.json") if obfuscator else None
    _check_target(backup, target, key_file, options)
    with lock_target(target) as locked:
        _check_target(backup, target, key_file, options)
        folder = locked.make_path()
        try:
            edit = _write(editor, folder, locked, options.recipients)
            _put(editor, folder, locked, key_file)
        finally:
            with suppress(OSError):
                remove_path(folder)
    return edit._replace(key_file=key_file)


def _check_target(backup: files.Backup, target: Path, key_file: Path | None, options: EditOptions) -> None:
    """Raise BadInput for a target or a key file that exists, and for a target inside of the backup."""
    if resolve_path(target).is_relative_to(resolve_path(backup.path)):
        raise BadInput(f"{target} is inside the backup {backup.path}", "choose a target beside it")
    if existing := files.describe_existing(target):
        raise BadInput(f"{target} holds {existing}", "choose another target")
    is_reused = options.key_file is not None and key_file == options.key_file.absolute()
    if key_file and key_file.exists() and not is_reused:
        raise BadInput(f"key file {key_file} already exists", "choose another target, or move it")


def _write(editor: Editor, folder: Path, locked: BackupTarget, recipients: Sequence[str]) -> Edit:
    ending = ENDING * bool(recipients)
    with naming(locked.path):
        folder.mkdir(0o700)
        data = create_file(folder / (files.DATA + ending), recipients, open_private)
    with naming(locked.path), data:
        editor.run(_name_errors(data.write, locked.path))
        sync(data)
    edit = editor.build_result()
    meta = json.dumps(editor.build_meta(edit), indent=2, ensure_ascii=False).encode()
    with naming(locked.path):
        write_atomically(folder / (files.META + ending), encrypt(meta, recipients) if recipients else meta)
    return edit


def _put(editor: Editor, folder: Path, locked: BackupTarget, key_file: Path | None) -> None:
    """Move the result to its place, with the key file before."""
    if key_file is None or editor.obfuscator is None:
        put_backup(folder, locked)
        return
    is_new = not key_file.exists()
    with naming(key_file):
        write_atomically(key_file, editor.obfuscator.encode_key_file())
    try:
        put_backup(folder, locked)
    except BaseException:
        if is_new:
            key_file.unlink(missing_ok=True)
        raise


def _name_errors(write: Callable[[bytes], object], target: Path) -> Callable[[bytes], None]:
    def write_named(data: bytes) -> None:
        with naming(target):
            write(data)

    return write_named


def _is_bucket(config: Json) -> bool:
    """Return whether a configuration is that of a key-value bucket (ADR-8)."""
    name = str(config["name"])
    subjects = [f"{build_subject_prefix(stream_to_bucket(name))}>"]
    return is_bucket(name) and config.get("subjects") == subjects
