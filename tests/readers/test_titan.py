"""`read_titan`: failures of GPUs, and where they were."""

import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refused

HEADER = "SN,location,insert,remove,duration,out,event"


def titan(tmp_path, *rows, header=HEADER):
    path = tmp_path / "gc_full.csv"
    path.write_text("\n".join([header, *rows, ""]))
    return path


FEW = (
    "1,c24-7c2s7n3,2014-01-21 10:00:00,2014-02-02 12:00:00,100,TRUE,DBE",
    "1,c24-7c2s7n3,,2014-02-02 12:00:00,,,OTB",
    "2,c0-0c0s0n1,2014-01-21 10:00:00,2014-02-01 06:00:00,100,FALSE,OTB",
    "3,c1-2c0s3n0,2014-01-21 10:00:00,2019-08-01 20:07:33,100,FALSE,",
    "3,c1-2c1s3n0,2014-01-21 10:00:00,2014-02-03 00:00:30,100,FALSE,DBE",
)


def test_places_on_the_torus(tmp_path):
    path, torus = titan(tmp_path, *FEW), fs.Torus(25, 16, 24)
    trace = fs.read_titan(path)
    assert trace.name == "Titan (0 s = 2014-02-01 00:00)"
    assert trace.time.tolist() == [6 * 3600, 36 * 3600, 48 * 3600 + 30]
    # x is the column, y twice the row, and one more for the nodes 2 and 3, z eight times the cage plus the slot
    assert trace.node.tolist() == [0, torus.nodes - 1, (1 * 16 + 4) * 24 + 8 + 3]
    assert dict(trace.dropped) == {"no failure": 1, "the same failure again": 1}
    nodes = fs.read_titan(path, level="node", downtime=60)
    assert nodes.node.tolist() == [1, 2 * torus.nodes - 1, 2 * trace.node[2]]
    assert nodes.downtime.tolist() == [60, 60, 60]
    assert nodes.span == trace.span + 60
    assert fs.read_titan(path, kinds="otb").dropped["of another kind"] == 2
    assert fs.read_titan(path, begin="2014-02-02", end="2014-02-03").time.tolist() == [12 * 3600]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1,c25-0c0s0n0,,2014-02-02 12:00:00,,,DBE", "line 2: 'c25-0c0s0n0' is no place of Titan such as c24-7c2s7n3"),
        ("1,rack,,2014-02-02 12:00:00,,,DBE", "line 2: 'rack' is no place"),
        ("1,c2-0c0s0n0,,yesterday,,,DBE", "line 2: 'yesterday' is no yyyy-mm-dd hh:mm:ss"),
        ("1,c2-0c0s0n0,,2014-02-02 12:00:00,,,XYZ", "line 2: 'XYZ' is no known event; expected DBE, OTB or nothing"),
        ("1,c2-0c0s0n0", "line 2: 2 fields, expected 7: '1,c2-0c0s0n0'"),
        ("1,c2-0c0s0n0,,2014-02-02 12:00:00,,,", r"no failures are left \(no failure: 1\)"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, row, said):
    refused(InputError, f"gc_full.csv.*{said}", fs.read_titan, titan(tmp_path, row))


def test_other_files_and_options(tmp_path):
    other = titan(tmp_path, header="a,b")
    refused(InputError, "not the history of Titan's GPUs; line 1 is 'a,b'", fs.read_titan, other)
    path = titan(tmp_path, *FEW)
    refused(OptionError, "unknown level 'rack'", fs.read_titan, path, level="rack")
    refused(OptionError, "unknown kinds 'sbe'", fs.read_titan, path, kinds="sbe")
    refused(OptionError, "downtime must be at least 0", fs.read_titan, path, downtime=-1)


def test_the_real_file(data_dir):
    path = data_dir / "failures" / "titan" / "gc_full.csv.xz"
    counts = {kinds: len(trace := fs.read_titan(path, kinds=kinds)) + trace.dropped["the same failure again"]
              for kinds in ("dbe", "otb")}  # fmt: skip
    assert counts == {"dbe": 4826, "otb": 1541}
    both = fs.read_titan(path)
    assert len(both) + sum(both.dropped.values()) == 37_343
    assert both.dropped["the same failure again"] == 27
    assert both.min_nodes <= fs.Torus(25, 16, 24).nodes
