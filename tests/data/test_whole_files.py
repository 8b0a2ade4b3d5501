"""Files are written whole or not at all."""

import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.data.text_files import write_text
from faultsim.data.whole_files import whole_file


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "kept"
    path.write_text("before")
    return path


def test_an_error_leaves_what_was_there(kept):
    with pytest.raises(ZeroDivisionError), whole_file(kept) as file:
        file.write(b"half of it" + bytes(1 // 0))
    assert kept.read_text() == "before"
    assert os.listdir(kept.parent) == ["kept"]


def test_readers_see_the_old_file_until_the_new_one_is_complete(kept):
    with whole_file(kept) as file:
        file.write(b"after")
        file.flush()
        assert kept.read_text() == "before"
    assert kept.read_text() == "after"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_links_stay_and_rights_are_kept(kept):
    link = kept.with_name("link")
    link.symlink_to(kept)
    kept.chmod(0o640)
    write_text(link, "after")
    assert link.is_symlink()
    assert kept.read_text() == "after"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_new_files_have_the_rights_of_any_other(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_a_pipe_is_written_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"from faultsim.data.text_files import write_text; write_text({str(pipe)!r}, 'through')"
    writer = subprocess.Popen([sys.executable, "-c", code])
    assert pipe.read_text() == "through"
    assert writer.wait() == 0
    write_text(os.devnull, "nowhere")


def test_errors_name_the_file_that_was_asked_for(kept, tmp_path):
    for path, number in ((tmp_path / "no" / "folder", errno.ENOENT), (tmp_path, errno.EISDIR)):
        with pytest.raises(OSError, match=r"\[") as caught, whole_file(path):
            pass
        assert (caught.value.filename, caught.value.errno) == (str(path), number)
    with pytest.raises(OSError, match=r"\[") as caught, whole_file(kept):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(kept)
    with pytest.raises(OSError, match=r"\[") as caught, whole_file(kept):
        raise OSError(errno.ENOENT, "gone", "another")
    assert caught.value.filename == "another"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_no_space_names_the_file():
    with pytest.raises(OSError, match="/dev/full"):
        write_text("/dev/full", "much" * 100_000)


def test_all_that_results_write_is_whole(kept, monkeypatch):
    """Each writer fails in the middle and leaves the file as it was."""
    log = fs.Workload(submit=[0, 1], runtime=[5, 5], size=[1, 1])
    result = fs.simulate(log, fs.Cluster(1))

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    for write in (result.save, result.write_swf, result.write_batsim, log.write_swf):
        with pytest.raises(OSError, match=r"No space.*kept"):
            write(kept)
    assert kept.read_text() == "before"
    assert os.listdir(kept.parent) == ["kept"]


@contextlib.contextmanager
def room_for(size):
    """Files may be so long; the write that would pass it is short, and the next one fails, as on a full disk."""
    resource = pytest.importorskip("resource")
    before, heard = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, heard)


@pytest.mark.parametrize("name", ["a.jpg", "a.tif", "a.png", "a.gif", "a.webp"])
def test_a_picture_that_the_disk_has_no_room_for_is_told(tmp_path, name):
    """Pillow writes some formats by itself, and does not see that a write was short."""
    pytest.importorskip("matplotlib")
    from faultsim import plot

    log = fs.Workload(submit=[0, 1], runtime=[5, 5], size=[1, 1])
    result, path = fs.simulate(log, fs.Torus(1, 1, 4), record=True), tmp_path / name
    axes = plot.plot_queue(result)
    path.write_bytes(b"before")
    write = partial(plot.animate_occupancy, result, frames=2) if name == "a.gif" else partial(plot.save, axes)
    with pytest.raises(OSError, match=name), room_for(2000):
        write(path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("end", ["png", "pdf", "svg", "jpg"])
def test_the_same_figure_is_the_same_bytes(tmp_path, end):
    pytest.importorskip("matplotlib")
    from faultsim import plot

    log = fs.Workload(submit=[0, 1], runtime=[5, 5], size=[1, 1])
    result = fs.simulate(log, fs.Cluster(1))
    one, other = tmp_path / f"one.{end}", tmp_path / f"other.{end}"
    for path in (one, other):
        plot.save(plot.plot_queue(result), path)
    assert one.read_bytes() == other.read_bytes()
