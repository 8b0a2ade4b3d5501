"""Whether a file is of a batch system's accounting, by its first line: the formats of `faultsim.readers.table`."""

from __future__ import annotations

import re

_NAME = re.compile(rb"[A-Za-z][A-Za-z0-9]*")
_BOM = b"\xef\xbb\xbf"
_PBS = re.compile(rb"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z]{1,2};")
_LSF = re.compile(rb'"[A-Z][A-Z_]+" "[\d.]+" \d+ ')
_JSON = re.compile(rb'\{\s*"(jobs|meta|metadata|errors|warnings)"')
_SGE = re.compile(rb"[^:\s]*:[^:\s]*:[^:]*:[^:]*:[^:]*:\d+:[^:]*:-?\d+:\d+:\d+:\d+:")
_SACCT = frozenset({b"jobid", b"jobidraw"})
_ELAPSED = frozenset({b"elapsed", b"elapsedraw", b"end"})
_SIZE = frozenset(b"allocnodes nnodes reqnodes alloccpus ncpus reqcpus alloctres reqtres".split())
_NO_NAMES = re.compile(rb"\d[\w+.\[\]%-]*\|.*\|\d{4}-\d\d-\d\dT\d\d:")
_EVENTS = frozenset({b"nodename"})


def begins_sacct(line: bytes) -> bool:
    """Whether a line has the names of fields of ``sacct``, between separators of any kind, or is its JSON.

    Examples
    --------
    >>> begins_sacct(b"JobID|User|Submit"), begins_sacct(b"User^|^JobIDRaw^|^State"), begins_sacct(b'{"jobs": [')
    (True, True, True)
    >>> begins_sacct(b"JobID,Submit,Elapsed,NNodes"), begins_sacct(b"JobID,Submit,Runtime"), begins_sacct(b"1 2 3")
    (True, False, False)
    """
    stripped = line.removeprefix(_BOM).lstrip()
    if stripped.startswith(b"{"):
        return _JSON.match(stripped) is not None
    if _NO_NAMES.match(stripped):
        return True  # of sacct --noheader: the reader says so
    names = {name.lower() for name in _NAME.findall(stripped)}
    if b"," in stripped or b"\t" in stripped:  # any table may have a column JobID
        return all(names & some for some in (_SACCT, {b"submit"}, _ELAPSED, _SIZE))
    return bool(names & _SACCT) and not stripped[:1].isdigit()


def begins_events(line: bytes) -> bool:
    """Whether a line has the names of fields of ``sacctmgr show event``.

    Examples
    --------
    >>> begins_events(b"Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User"), begins_events(b"time,node")
    (True, False)
    """
    names = {name.lower() for name in _NAME.findall(line.removeprefix(_BOM))}
    return bool(names & _EVENTS) and bool(names & {b"timestart", b"start"})


def begins_pbs(line: bytes) -> bool:
    """Whether a line is a record of PBS or Torque.

    Examples
    --------
    >>> begins_pbs(b"07/01/2024 10:00:05;E;1.srv;user=u1")
    True
    """
    return _PBS.match(line.removeprefix(_BOM)) is not None


def begins_lsf(line: bytes) -> bool:
    """Whether a line is a record of lsb.acct.

    Examples
    --------
    >>> begins_lsf(b'"JOB_FINISH" "10.1" 1656313251 905984')
    True
    """
    return _LSF.match(line.removeprefix(_BOM)) is not None


def begins_sge(line: bytes) -> bool:
    """Whether a line is a record of Grid Engine's accounting.

    Examples
    --------
    >>> begins_sge(b"all.q:n1:users:u1:job:1:sge:0:1719820800:1719820803:1719821400:0:0:597")
    True
    """
    return _SGE.match(line.removeprefix(_BOM)) is not None
