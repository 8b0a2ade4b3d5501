"""Files that say whether they are complete, and files that do not."""

import gzip

import numpy as np
import pytest

import faultsim as fs
from helpers.refusals import refused


def log():
    rng = np.random.default_rng(3)
    n = 40
    return fs.Workload(
        submit=np.arange(n) * 7.5, runtime=rng.integers(1, 900, n), size=rng.integers(1, 64, n), user=np.arange(n) + 100
    )


def trace():
    rng = np.random.default_rng(4)
    return fs.FailureTrace(np.arange(30) * 12.5, rng.integers(0, 99, 30), rng.integers(10, 900, 30), span=3600)


KINDS = {
    "swf": (log, lambda data, path: data.write_swf(path), fs.read_swf),
    "trace": (trace, lambda data, path: data.write_csv(path), fs.read_failures),
}


@pytest.fixture(params=KINDS)
def written(request, tmp_path):
    make, write, read = KINDS[request.param]
    path = tmp_path / request.param
    write(make(), path)
    return make(), path, read


def test_whole_files_are_read(written, tmp_path):
    data, path, read = written
    content = path.read_bytes()
    assert read(path) == data
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    assert read(tmp_path / "a.gz") == data
    for changed in (content.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + content, content.rstrip(b"\n")):
        path.write_bytes(changed)
        assert read(path) == data


def test_file_that_was_cut_anywhere_is_refused(written):
    _, path, read = written
    content = path.read_bytes()
    begin = content.index(b"\n") + 1
    for end in range(begin, len(content) - 1, 7):
        path.write_bytes(content[:end])
        refused(fs.InputError, "the file was cut", read, path)


def test_file_with_a_flipped_digit_is_refused(written):
    _, path, read = written
    content = path.read_bytes()
    begin, end = content.index(b"\n") + 1, content.rindex(b"End") - 2
    digits = [at for at in range(begin, end) if content[at : at + 1].isdigit()]
    for at in digits[::9]:
        other = b"%d" % ((int(content[at : at + 1]) + 1) % 10)
        path.write_bytes(content[:at] + other + content[at + 1 :])
        refused(fs.InputError, "not as it was written|version", read, path)


def test_file_with_a_line_less_is_refused(written):
    _, path, read = written
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:9] + lines[10:]))
    refused(fs.InputError, "not whole", read, path)


def test_file_that_was_changed_on_purpose_is_read_without_the_announcement(written):
    data, path, read = written
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:-2]))
    assert len(read(path)) == len(data) - 1


def test_lines_are_not_written_twice(tmp_path):
    for name in ("a.swf", "b.swf"):
        (log() if name == "a.swf" else fs.read_swf(tmp_path / "a.swf")).write_swf(tmp_path / name)
    assert (tmp_path / "b.swf").read_text().count("Complete:") == 1
    assert (tmp_path / "b.swf").read_text().count("End:") == 1
    assert fs.read_swf(tmp_path / "b.swf") == log()


def test_parquet_with_a_flipped_byte_of_its_values_is_refused(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    log().write_parquet(path)
    group = parquet.ParquetFile(path).metadata.row_group(0)
    content = bytearray(path.read_bytes())
    for at in range(group.num_columns):
        column = group.column(at)
        end = (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size
        changed = content.copy()
        changed[end - 3] ^= 1
        path.write_bytes(changed)
        refused(fs.InputError, "not a Parquet file that can be read", fs.read_jobs, path)
