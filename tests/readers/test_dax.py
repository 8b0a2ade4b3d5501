"""`read_dax`: files that the test writes, quirk by quirk, and the real ones."""

import gzip

import pytest

import faultsim as fs
from faultsim.errors import InputError
from helpers.refusals import refused

JOB_A = '<job id="A" runtime="3.5"><uses file="f" link="output" size="1000"/></job>'
JOB_B = '<job id="B" runtime="4"><uses file="f" link="input" size="900"/><uses file="g" link="input" size="5"/></job>'
EDGE = '<child ref="B"><parent ref="A"/></child>'


def written(tmp_path, *parts: str, head: str = '<?xml version="1.0"?>\n', end: str = "</adag>"):
    path = tmp_path / "w.xml"
    path.write_text("\n".join([f'{head}<adag xmlns="http://pegasus.isi.edu/schema/DAX">', *parts, end]))
    return path


def test_jobs_files_and_edges(tmp_path) -> None:
    wf = fs.read_dax(written(tmp_path, JOB_A, JOB_B, EDGE))
    assert wf == fs.Workflow([3.5, 4], [(0, 1, 900)], transfer_unit="bytes")
    assert (wf.name, wf.labels) == ("w", ("A", "B"))
    assert fs.read_dax(written(tmp_path, JOB_A, JOB_B, EDGE), name="x").name == "x"
    assert fs.read_dax(written(tmp_path, EDGE, JOB_B, JOB_A)).edge_from.tolist() == [1], "dependences may come first"


def test_what_version_three_writes(tmp_path) -> None:
    first = (
        '<job id="A" name="stage"><argument>-x <file name="f"/></argument>'
        '<profile namespace="hints" key="runtime">3.5</profile><profile namespace="env" key="HOME">/tmp</profile>'
        '<uses name="f" link="inout" size="10"/><uses name="stage" executable="true"/></job>'
    )
    second = '<job id="B" runtime="1"><uses name="f" link="input"/><uses name="f2" link="input"/></job>'
    wf = fs.read_dax(written(tmp_path, first, second, EDGE))
    assert wf == fs.Workflow([3.5, 1], [(0, 1, 10)], transfer_unit="bytes")


def test_a_negative_size_is_missing_and_counted(tmp_path) -> None:
    negative = JOB_B.replace("900", "-6585019").replace('"5"', '"-1"')
    wf = fs.read_dax(written(tmp_path, JOB_A, negative, EDGE))
    assert wf.transfer.tolist() == [1000], "the parent says 1000"
    assert dict(wf.dropped) == {"negative size": 2}
    wf = fs.read_dax(written(tmp_path, JOB_A.replace("1000", "-3"), negative, EDGE))
    assert (wf.transfer.tolist(), dict(wf.with_cost([1, 2]).dropped)) == ([0], {"negative size": 3})
    assert dict(fs.read_dax(written(tmp_path, JOB_A)).dropped) == {}


def test_compressed_and_without_namespace(tmp_path) -> None:
    path = tmp_path / "w.xml.gz"
    path.write_bytes(gzip.compress(f"<adag>{JOB_A}</adag>".encode()))
    assert repr(fs.read_dax(path)) == "<Workflow 'w': 1 job, 0 edges, transfers in bytes>"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((JOB_A, "<job id='B'"), r"w\.xml, line 5, column 1: not well-formed"),
        ((JOB_A, "<job id='B' runtime='1'>"), r"w\.xml, line 5, column 3: mismatched tag"),
        (("<job runtime='1'/>",), "line 3: a job without an id"),
        ((JOB_A, JOB_A), "line 4: the id 'A' already appears in line 3"),
        (("<job id='B'/>",), "line 3: job 'B' has no runtime"),
        (("<job id='B' runtime='-1'/>",), "line 3: runtime '-1'; expected a finite number of 0 or more"),
        (("<job id='B' runtime='nan'/>",), "line 3: runtime 'nan'; expected a finite number"),
        (("<job id='B' runtime='1e999'/>",), "line 3: runtime '1e999'; expected a finite number"),
        (("<job id='B' runtime='soon'/>",), "line 3: runtime 'soon' is not a number"),
        (("<job id='B' runtime='1_0'/>",), "line 3: runtime '1_0' is not a number"),
        (("<job id='B'><profile key='runtime'>x</profile></job>",), "line 3: runtime 'x' is not a number"),
        (
            ("<job id='B' runtime='1'><uses file='f' link='input' size='-inf'/></job>",),
            "line 3: size '-inf'; expected a finite number",
        ),
        (("<job id='B' runtime='1'><uses link='input'/></job>",), "line 3: <uses> without a file"),
        ((JOB_A, EDGE), "line 4: no job has the id 'B'"),
        ((JOB_A, "<child ref='A'><parent ref='Z'/></child>"), "line 4: no job has the id 'Z'"),
        ((JOB_A, "<child><parent ref='A'/></child>"), "line 4: <child> without a ref"),
        ((JOB_A, JOB_B, EDGE, EDGE), "line 6: 'A' -> 'B' already appears in line 5; give each edge once"),
        ((JOB_A, "<child ref='A'><parent ref='A'/></child>"), "job 'A' depends on itself"),
        ((JOB_A, JOB_B, EDGE, "<child ref='A'><parent ref='B'/></child>"), r"w\.xml: no job can .* cycle: 'A' -> 'B'"),
        ((), r"w\.xml: no job; expected <job> elements inside <adag>"),
    ],
)
def test_bad_files_are_named_with_their_place(tmp_path, parts: tuple[str, ...], message: str) -> None:
    refused(InputError, message, fs.read_dax, written(tmp_path, *parts), strict=True)


def test_other_files_are_refused(tmp_path) -> None:
    path = tmp_path / "w.xml"
    path.write_text("<svg/>")
    refused(InputError, r"line 1: <svg> is not DAX, whose first element is <adag>", fs.read_dax, path)
    path.write_text("")
    refused(InputError, r"w\.xml, line 1, column 1: no element found", fs.read_dax, path)
    path.write_text('<?xml version="1.0" encoding="klingon"?><adag/>')
    refused(InputError, "unknown encoding", fs.read_dax, path)
    refused(InputError, "no such file", fs.read_dax, tmp_path / "none.xml")


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">',
        '<!ENTITY b SYSTEM "file:///etc/passwd">',
        '<!ENTITY % b SYSTEM "http://example.org/x.dtd">',
    ],
)
def test_entities_are_refused_before_they_are_used(tmp_path, declared: str) -> None:
    head = f"<!DOCTYPE adag [{declared}]>"
    path = written(tmp_path, "<job id='A' runtime='1'>&b;</job>", head=head)
    refused(InputError, r"line 1: the document declares the entity '.'; entities are rejected", fs.read_dax, path)


# Jobs, edges and bytes over all edges, counted by another program (ElementTree).
REAL = {
    "CyberShake_30": (30, 52),
    "Epigenomics_100": (100, 122),
    "Epigenomics_24": (24, 27),
    "HEFT_paper": (10, 15),
    "Inspiral_30": (30, 35),
    "Montage_100": (100, 233),
    "Montage_25": (25, 45),
    "Sipht_30": (29, 33),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(data_dir, name: str) -> None:
    import xml.etree.ElementTree as tree

    path = data_dir / "dags" / "dax" / f"{name}.xml"
    if not path.exists():
        pytest.skip(f"no dags/dax/{name}.xml in the folder of public logs")
    wf = fs.read_dax(path)
    assert (wf.n_jobs, wf.n_edges) == REAL[name]
    space = "{http://pegasus.isi.edu/schema/DAX}"
    root = tree.parse(path).getroot()
    jobs = root.findall(f"{space}job")
    assert wf.labels == tuple(job.attrib["id"] for job in jobs)
    assert wf.cost.tolist() == [float(job.attrib["runtime"]) for job in jobs]
    uses = {
        (job.attrib["id"], link): {u.attrib["file"]: int(u.attrib["size"]) for u in job if u.attrib["link"] == link}
        for job in jobs
        for link in ("input", "output")
    }
    pairs = {
        (parent.attrib["ref"], child.attrib["ref"]): 0 for child in root.findall(f"{space}child") for parent in child
    }
    for parent, child in pairs:
        shared = uses[parent, "output"].keys() & uses[child, "input"].keys()
        pairs[parent, child] = sum(uses[child, "input"][file] for file in shared)
    rows = zip(wf.edge_from, wf.edge_to, wf.transfer, strict=True)
    assert {(wf.labels[a], wf.labels[b]): carried for a, b, carried in rows} == pairs


def test_the_workflow_of_the_heft_paper(data_dir) -> None:
    path = data_dir / "dags" / "dax" / "HEFT_paper.xml"
    if not path.exists():
        pytest.skip("no dags/dax/HEFT_paper.xml in the folder of public logs")
    wf = fs.read_dax(path)
    assert wf.cost.tolist() == [14, 13, 11, 13, 12, 13, 7, 5, 18, 21]
    # [topcuoglu2002] Figure 1: 125 bytes are one unit of its edge weights.  Its edge from task 3 to 7 weighs 23, that
    # of the file 20.
    assert (wf.transfer / 125).tolist() == [18, 12, 9, 11, 14, 19, 16, 20, 27, 23, 13, 15, 17, 11, 13]
