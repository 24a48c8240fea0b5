"""Files that appear whole or not at all."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from staffing import StaffingError
from staffing.whole_file import write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="needs the permissions, links and pipes of POSIX")


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("old")
    return path


def test_a_file_is_written_in_utf_8_with_the_line_ends_given(tmp_path):
    write_whole(tmp_path / "f.txt", "früh\n月\r\n")
    assert (tmp_path / "f.txt").read_bytes() == "früh\n月\r\n".encode()
    write_whole(str(tmp_path / "g.txt"), "")
    assert (tmp_path / "g.txt").read_bytes() == b""
    assert files(tmp_path) == ["f.txt", "g.txt"]


def test_an_old_file_is_replaced(old):
    write_whole(old, "new")
    assert old.read_text() == "new"
    assert files(old.parent) == ["f.txt"]


def test_a_text_that_cannot_be_encoded_leaves_the_old_file(old):
    with pytest.raises(StaffingError, match="cannot be written"):
        write_whole(old, "half of it\n" * 10_000 + "\ud800")
    assert old.read_text() == "old"
    assert files(old.parent) == ["f.txt"]


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()]
)
def test_a_failure_at_the_last_step_leaves_the_old_file(old, error, monkeypatch):
    def fail(self, target):
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(StaffingError if isinstance(error, OSError) else type(error)) as caught:
        write_whole(old, "new")
    if isinstance(error, OSError):
        assert str(caught.value) == f"{old}: cannot be written: No space left on device"
    assert old.read_text() == "old"
    assert files(old.parent) == ["f.txt"]


def test_a_failure_leaves_no_new_file(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "replace", lambda self, target: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_whole(tmp_path / "f.txt", "new")
    assert files(tmp_path) == []


def test_readers_see_the_old_or_the_new(tmp_path):
    path = tmp_path / "f.txt"
    texts = ["a" * 200_000, "b" * 200_000]
    write_whole(path, texts[0])
    seen, done = set(), threading.Event()

    def watch():
        while not done.is_set():
            seen.add(path.read_text())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for i in range(50):
        write_whole(path, texts[i % 2])
    done.set()
    watcher.join()
    assert seen <= set(texts)


@pytest.mark.parametrize("where", ["none/f.txt", "file/f.txt", ".", ""])
def test_places_that_cannot_be_written_are_named(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StaffingError, match="cannot be written: ") as caught:
        write_whole(where, "new")
    assert "\n" not in str(caught.value)
    assert files(tmp_path) == ["file"]


def test_a_path_that_no_system_has_is_refused(tmp_path):
    with pytest.raises(StaffingError, match=r"cannot be written: .*null"):
        write_whole(tmp_path / "a\0b", "new")
    with pytest.raises(StaffingError, match="cannot be written"):
        write_whole(tmp_path / ("x" * 5000), "new")
    assert files(tmp_path) == []


def test_a_folder_without_permission_is_refused(old, monkeypatch):
    def forbid(self, *given, **options):
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:  # as root, nothing is forbidden
        patch.setattr(Path, "open", forbid)
        with pytest.raises(StaffingError, match="cannot be written: Permission denied"):
            write_whole(old, "new")
    assert old.read_text() == "old"
    assert files(old.parent) == ["f.txt"]


@pytest.mark.parametrize("path", [None, 7, 5.5, ["f.txt"], b"f.txt"], ids=repr)
def test_what_is_no_path_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StaffingError, match="cannot be written: "):
        write_whole(path, "new")
    assert files(tmp_path) == []


def test_the_longest_name_that_a_file_can_have_can_be_written(tmp_path):
    name = "x" * 251 + ".txt"
    for text in ("new", "newer"):
        write_whole(tmp_path / name, text)
        assert (tmp_path / name).read_text() == text
    assert files(tmp_path) == [name]


@posix
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "f.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f.txt").stat().st_mode) == 0o640


@posix
@pytest.mark.parametrize("mode", [0o600, 0o660, 0o644])
def test_an_old_file_keeps_its_permissions(old, mode):
    old.chmod(mode)
    write_whole(old, "new")
    assert stat.S_IMODE(old.stat().st_mode) == mode


@posix
def test_a_link_is_followed(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "f.txt").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "f.txt")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "f.txt").read_text() == "new"
    assert files(tmp_path / "far") == ["f.txt"]


@posix
def test_a_link_to_nothing_makes_what_it_points_at(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "f.txt")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "f.txt").read_text() == "new"


@posix
def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(StaffingError, match="cannot be written"):
        write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "b").is_symlink()
    assert files(tmp_path) == ["a", "b"]


@posix
def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "new\n")
    reader.join(timeout=10)
    assert got == ["new\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert files(tmp_path) == ["pipe"]


SPEAK = """
import sys
from staffing.whole_file import write_whole
print("before")
write_whole(sys.argv[1], "written\\n")
print("after")
"""


@posix
def test_the_standard_output_is_written_to_in_its_turn(tmp_path):
    with open(tmp_path / "out.txt", "w") as out:
        subprocess.run([sys.executable, "-c", SPEAK, "/dev/stdout"], stdout=out, check=True)
    assert (tmp_path / "out.txt").read_text() == "before\nwritten\nafter\n"
    with open(tmp_path / "out.txt", "w") as out:
        subprocess.run([sys.executable, "-c", SPEAK, tmp_path / "out.txt"], stdout=out, check=True)
    assert (tmp_path / "out.txt").read_text() == "before\nwritten\nafter\n"
    assert files(tmp_path) == ["out.txt"]


@posix
@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1"])
def test_the_standard_output_may_be_a_pipe(path):
    done = subprocess.run([sys.executable, "-c", SPEAK, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "before\nwritten\nafter\n"


@posix
def test_an_open_pipe_is_written_to():
    read, write = os.pipe()
    write_whole(f"/dev/fd/{write}", "new\n")
    os.close(write)
    with open(read) as file:
        assert file.read() == "new\n"


@posix
def test_the_null_device_swallows():
    write_whole("/dev/null", "new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
