"""The command line: what a command prints, and how it refuses."""

from faultsim.cli import main

LANL = (
    "System,nodenumz,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time\n"
    "2,0,6/21/2005 10:54,6/21/2005 11:00,6\n"
    "2,3,6/22/2005 10:54,6/22/2005 11:00,6\n"
    "20,5,6/21/2005 10:54,6/21/2005 11:00,6\n"
    "20,6,6/22/2005 10:54,6/22/2005 11:00,6\n"
)
#: Of one system only.
LANL_2 = "".join(line for line in LANL.splitlines(keepends=True) if not line.startswith("20,"))


def swf(shortest, estimate):
    """Forty jobs of 1 to 9 nodes, one every ten seconds, for a machine of 16."""
    return "; MaxProcs: 16\n" + "".join(
        f"{i} {10 * i} -1 {shortest + 7 * i % 40} {1 + i % 9} -1 -1 {1 + i % 9} {estimate} -1 1 {i % 3} "
        "-1 -1 -1 -1 -1 -1\n"
        for i in range(1, 41)
    )


def run(capsys, *argv):
    """Status, standard output, standard error."""
    status = main([str(part) for part in argv])
    return status, *capsys.readouterr()


def refused(capsys, *argv):
    """The one line on stderr of a command that ends with status 2 and prints nothing."""
    status, out, err = run(capsys, *argv)
    assert status == 2, (out, err)
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return err
