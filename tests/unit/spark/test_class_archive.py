"""The archive of Spark's classes: its name, who makes it, and what is left when that fails."""

import contextlib
import os
import threading
from pathlib import Path

import pytest

from jsctl.errors import BadInput, JsctlError
from jsctl.spark.session import class_archive, make_class_archive, session
from jsctl.spark.session.packages import PACKAGES_SETTING
from jsctl.spark.session.session import SessionOptions

pytest.importorskip("pyspark")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark of a few files, and a cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(class_archive.SWITCH, raising=False)
    parts = ("java/bin/java", "java/release", "java/lib/server/classes.jsa")
    for name in (*parts, "spark/jars/spark-core.jar", "spark/jars/scala.jar"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('JAVA_VERSION="17.0.15"\n')
        file.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    return tmp_path / "cache" / "jsctl" / "spark"


def archive() -> Path:
    return class_archive.find()


def test_every_java_and_spark_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [archive()]
    (tmp_path / "spark" / "jars" / "more.jar").touch()
    names.append(archive())
    (tmp_path / "spark" / "jars" / "scala.jar").write_text("another version")
    names.append(archive())
    (tmp_path / "java" / "release").write_text('JAVA_VERSION="21.0.1"\n')
    names.append(archive())
    assert len(set(names)) == 4
    monkeypatch.setenv(class_archive.SWITCH, "off")
    with pytest.raises(BadInput, match="JSCTL_SPARK_ARCHIVE is off"):
        class_archive.find()
    assert class_archive.read_options() == ""


def test_it_is_used_when_it_is_there(cache: Path) -> None:
    assert class_archive.read_options() == ""
    cache.mkdir(parents=True)
    archive().write_text("classes")
    assert class_archive.read_options() == ""  # of an unknown size
    class_archive.get_size_record(archive()).write_text("8")
    assert class_archive.read_options() == ""  # it is cut, and the JVM would crash
    class_archive.get_size_record(archive()).write_text("7")
    assert class_archive.read_options().endswith(f'"-XX:SharedArchiveFile={archive()}"')


def test_a_java_without_an_archive_of_its_own_classes_is_given_one(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "java" / "lib" / "server" / "classes.jsa").unlink()
    cache.mkdir(parents=True)
    base = archive().with_suffix(".base")
    archive().write_text("classes")
    class_archive.get_size_record(archive()).write_text("7")
    assert class_archive.read_options() == ""  # the one on which it builds is missing
    base.write_text("java")
    class_archive.get_size_record(archive()).write_text("11")
    assert class_archive.read_options().endswith(f'"-XX:SharedArchiveFile={base}:{archive()}"')
    assert f'"-XX:SharedArchiveFile={base}"' in class_archive.write_options(archive().with_suffix(".draft"))
    assert class_archive.remove_all() == (1, 13)
    assert not list(cache.iterdir())


def test_two_processes_make_one_archive(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one is told about the first."""
    cache.mkdir(parents=True)
    started, finish = threading.Event(), threading.Event()

    def write(draft: Path) -> None:
        started.set()
        assert finish.wait(20)
        draft.write_text("classes")

    monkeypatch.setattr(make_class_archive, "_write", write)
    results: list[bool] = []
    first = threading.Thread(target=lambda: results.append(make_class_archive.make(archive())))
    first.start()
    assert started.wait(20)
    with pytest.raises(JsctlError, match="another process makes the archive"):
        make_class_archive.make(archive())
    assert class_archive.read_options() == ""  # half of one is none
    finish.set()
    first.join()
    assert not make_class_archive.make(archive())  # it is there already
    assert results == [True] and archive().read_text() == "classes"
    assert {path.name for path in cache.glob("*.*") if path.suffix} == {
        archive().name,
        class_archive.get_size_record(archive()).name,
    }


def test_archives_that_were_used_last_stay(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other virtual environments, for example."""
    cache.mkdir(parents=True)
    for number, name in enumerate(("used", "older", "old", "new")):
        for suffix in (".jsa", ".size"):
            (cache / name).with_suffix(suffix).touch()
            os.utime((cache / name).with_suffix(suffix), (number, number))
    (cache / "killed.draft").touch()
    monkeypatch.setattr(class_archive, "find", lambda: cache / "used.jsa")
    class_archive.get_size_record(cache / "used.jsa").write_text("0")
    assert "used.jsa" in class_archive.read_options()
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parents[1]))
    monkeypatch.setattr(class_archive, "find", lambda: cache / "made.jsa")
    monkeypatch.setattr(make_class_archive, "_write", lambda draft: draft.write_text("classes"))
    assert make_class_archive.make(archive())
    assert {path.stem for path in cache.glob("*.*") if path.suffix} == {"made", "used", "new"}


def test_half_of_an_archive_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header, which comes first, is written last."""
    monkeypatch.setattr(make_class_archive, "_write", lambda draft: draft.write_bytes(bytes(4096) + b"x"))
    with pytest.raises(JsctlError, match="did not write all"):
        make_class_archive.make(archive())
    assert not [path for path in cache.iterdir() if path.suffix]


def test_all_are_removed(cache: Path) -> None:
    assert class_archive.remove_all() == (0, 0)
    cache.mkdir(parents=True)
    for name in ("a.jsa", "a.size", "b.jsa", "killed.draft"):
        (cache / name).write_text("classes")
    assert class_archive.remove_all() == (2, 28)
    assert list(cache.iterdir()) == []


def test_a_slow_start_says_once_how_to_have_it_faster(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SLOW_START", -1.0)
    monkeypatch.setattr(session, "open_session", lambda *_, **__: contextlib.nullcontext())
    said: list[str] = []
    for options in (
        SessionOptions(say=said.append, conf={PACKAGES_SETTING: "a:b:1"}),
        SessionOptions(say=said.append, remote="sc://host"),
        SessionOptions(),
    ):
        with options.open():
            assert not said
    for _ in range(2):
        with SessionOptions(say=said.append).open():
            assert said == [session.STARTED_SLOWLY]
