"""The state of a simulation between two instants, for explanations; the contract is in snapshot.pxd.

Of the queue it has the first jobs, and the job that is explained.  Keys, with lists in the order of ``queue`` or
``running``:

- ``now`` (s), ``queue``, ``running``: job numbers, and ``queue_rows``, ``running_rows``: rows in the user's log
- of the queue ``submit``, ``estimate`` (s), ``size``, ``need``, ``rank`` of the shape requested (0: none),
  ``interval`` between planned checkpoints (s, inf: none), ``restarts``, ``saved`` (s), and ``reserved``: (begin,
  place), None for a job without a reservation
- of the running jobs ``decision``, ``start``, ``expected`` (s), ``allocated``, ``held``, ``place``
- ``down``: (node, when it is up again, the job that holds it or -1) of nodes that are down
- ``lost``: (node, (cores, MiB, GPUs), when they are up again, those of held jobs by number) of parts of nodes that are
  down
- ``shares`` of a site: for each running job (node, cores, MiB, GPUs) of its nodes; ``failures``: how many each node has
  had, if the run counts them, else None
- ``predictions``: (begin, end, node) of those that have not passed, if the caller owns time, else None

A place is a box (x, y, z, a, b, c) on a torus, a set of hosts (bit i: host i) on a pod, and None on a cluster.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free as c_free

from faultsim._core.containers.bits cimport FS_LITTLE_ENDIAN
from faultsim._core.containers.releases cimport releases_all
from faultsim._core.site.shares cimport cores_of, gpus_of, lost_part_t, mebibytes_of, share_t, site_of, site_t
from faultsim._core.state cimport JOB_HELD
from faultsim._core.tables.machine cimport place_t


cdef object place_for_python(sim_t *s, const place_t *place):
    """A place of a placed machine as the snapshot has it."""
    cdef int32_t words = s.machine.words, i
    cdef uint64_t *mask
    cdef int32_t at = 0
    cdef place_t box
    if s.machine.boxes and place.part[3] == 0:
        found = []
        while s.machine.placed.next_box(s.machine.state, place, &at, &box):
            found.append(tuple([box.part[i] for i in range(6)]))
        return found
    if s.machine.boxes:
        return tuple([place.part[i] for i in range(6)])
    mask = <uint64_t *>calloc(<size_t>words, sizeof(uint64_t))
    if mask == NULL:
        raise MemoryError("no memory for a place")
    s.machine.placed.put(s.machine.state, mask, place)
    try:
        if FS_LITTLE_ENDIAN:
            return int.from_bytes((<const char *>mask)[:8 * words], "little")
        return sum([int(mask[i]) << 64 * i for i in range(words)])
    finally:
        c_free(mask)


cdef object reservation_of(sim_t *s, int32_t job):
    cdef double begin = 0.0
    cdef place_t place
    cdef int code = s.scheduler.reserved_at(s.scheduler.state, s, job, &begin, &place)
    if code < 0:
        raise MemoryError("no memory for a plan")
    if code == 0:
        return None
    return begin, place_for_python(s, &place) if s.machine.placed else None


cdef int32_t holder_of(sim_t *s, int32_t node, list running) except -2:
    """The job that has a node, -1 for none."""
    for job in running:
        if s.machine.named.holds(s.machine.state, job, node):
            return job
    return -1


cdef list shares_for_python(sim_t *s, int32_t job):
    cdef int32_t i
    cdef share_t *each
    found = []
    for i in range(site_of(&s.machine).held[job].n):
        each = &site_of(&s.machine).held[job].item[i]
        found.append((each.node, cores_of(each.word), mebibytes_of(each.word), gpus_of(each.word)))
    return found


cdef tuple amounts_in(uint64_t word):
    return cores_of(word), mebibytes_of(word), gpus_of(word)


cdef list parts_for_python(sim_t *s):
    cdef site_t *m = site_of(&s.machine)
    cdef lost_part_t *each
    cdef int32_t i, k
    found = []
    for i in range(m.n_lost):
        each = &m.lost[i]
        if each.until >= 0.0:
            held = {m.kept[k].job: amounts_in(m.kept[k].word) for k in range(m.n_kept) if m.kept[k].number == i}
            found.append((each.share.node, amounts_in(each.share.word), each.until, held))
    return found


cdef dict snapshot_of(sim_t *s, int32_t job_asked, int32_t most):
    cdef int32_t i, node, first = s.queue.end
    cdef int64_t k
    cdef place_t place
    cdef object places = None, predictions = None, shares = None, failures = None
    if most < s.queue.end - s.queue.head:
        first = s.queue.head + most
    queue = [s.queue.job[i] for i in range(s.queue.head, first)]
    queue += [job_asked for i in range(first, s.queue.end) if s.queue.job[i] == job_asked]
    items = releases_all(&s.releases)
    running = [items[i].job for i in range(s.releases.n) if items[i].job >= 0]
    running.sort()
    if s.machine.placed:
        places = []
        for job in running:
            place = s.machine.placed.place_of(s.machine.state, job)
            places.append(place_for_python(s, &place))
    if s.machine.shared:
        shares = [shares_for_python(s, job) for job in running]
        if s.trace.count != NULL:
            failures = [s.trace.count[node] for node in range(s.nodes)]
    down = []
    if s.trace.down != NULL:
        down = [(node, s.trace.up_at[node], holder_of(s, node, running))
                for node in range(s.nodes) if s.trace.down[node]]
    if s.live:
        predictions = [(s.predictions.begin[k], s.predictions.end[k], s.predictions.node[k])
                       for k in range(s.predictions.next, s.predictions.n)]
    return {
        "now": s.now,
        "queue": queue,
        "queue_rows": queue if s.row == NULL else [s.row[job] for job in queue],
        "submit": [s.submit[job] for job in queue],
        "estimate": [s.estimate[job] for job in queue],
        "size": [s.size[job] for job in queue],
        "need": [s.need[job] for job in queue],
        "rank": [0 if s.rank == NULL else s.rank[job] for job in queue],
        "interval": [INFINITY if s.track.interval == NULL else s.track.interval[job] for job in queue],
        "restarts": [s.restarts[job] for job in queue],
        "saved": [s.track.saved[job] if s.track.on and s.restarts[job] > 0 else 0.0 for job in queue],
        "reserved": [None if s.scheduler.reserved_at == NULL else reservation_of(s, job) for job in queue],
        "running": running,
        "running_rows": running if s.row == NULL else [s.row[job] for job in running],
        "decision": [s.decision[job] for job in running],
        "start": [s.start[job] for job in running],
        "expected": [s.expected[job] for job in running],
        "allocated": [s.allocated[job] for job in running],
        "held": [s.state[job] == JOB_HELD for job in running],
        "place": places,
        "shares": shares,
        "failures": failures,
        "down": down,
        "lost": [] if s.trace.part == NULL else parts_for_python(s),
        "predictions": predictions,
        "p": s.predictions.p,
    }
