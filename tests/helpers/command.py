"""The command line: what a command prints, and how it refuses."""

from faultsim.cli import main


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
