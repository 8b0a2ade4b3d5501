"""RANK_HYBD, FLAW and FIFO: ready jobs wait in a pool, and passes put them on free nodes (workflow-model.md#pass).

A try of a job looks at all free nodes.  Where nodes are alike, it looks at those that have an input of the job and at
the first of the others for which the predictor predicts no failure, and a pass reads the failures and predictions until
the job would finish: nodes as such cost a step of 64.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.bit_tree cimport bit_tree_next
from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.containers.event_queue cimport event_t, heap_pop, heap_push
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.workflow.run cimport kill_job
from faultsim._core.workflow.state cimport (
    ahead, duration, enter_pool, hold_node, keep_decision, leave_pool, moving, park, workflow_t,
)

# What moves to a job, gathered once a try, so that the input time on a node takes a step and not one an edge.
cdef struct inputs_t:
    double most          # longest transfer of all, and the node it comes from
    int32_t most_from
    double other         # longest of those from other nodes
    double total         # sum of all, in order

# What a try of a job came to.
cdef struct node_choice_t:
    int32_t node         # -1: none
    double finish
    int32_t asked
    double wake          # when the earliest prediction that made for a yes ends


cdef inline int32_t blocked_by(const workflow_t *s, int32_t job) noexcept nogil:
    """A node that is down and has an output that the job needs, -1: none."""
    cdef int64_t e
    if s.moves.shared or s.machine.n_down == 0:
        return -1
    for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
        if s.machine.is_down[s.job.node[s.graph.before[e]]]:
            return s.job.node[s.graph.before[e]]
    return -1


cdef void gather(workflow_t *s, int32_t job, inputs_t *inputs) noexcept nogil:
    cdef int64_t e
    cdef int32_t source
    cdef double time
    inputs.most = inputs.other = inputs.total = 0.0
    inputs.most_from = -1
    s.scan.stamp += 2
    for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
        source = s.job.node[s.graph.before[e]]
        s.scan.seen[source] = s.scan.stamp
        if s.machine.links != NULL:
            continue
        time = s.graph.before_size[e] / s.machine.bandwidth
        inputs.total += time
        if source == inputs.most_from:
            if time > inputs.most:
                inputs.most = time
        elif time > inputs.most:
            inputs.other = inputs.most
            inputs.most = time
            inputs.most_from = source
        elif time > inputs.other:
            inputs.other = time


cdef double input_time(const workflow_t *s, int32_t job, int32_t target, const inputs_t *inputs) noexcept nogil:
    """I of the model page."""
    cdef int64_t e
    cdef double time, total = 0.0
    if s.machine.links == NULL:
        if not s.moves.in_turn:
            return inputs.other if target == inputs.most_from else inputs.most
        if s.scan.seen[target] < s.scan.stamp:
            return inputs.total
    for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
        time = moving(s, s.graph.before_size[e], s.job.node[s.graph.before[e]], target)
        if s.moves.in_turn:
            total += time
        elif time > total:
            total = time
    return total


cdef inline bint is_foreseen(workflow_t *s, int32_t node, double until) noexcept nogil:
    """The predictor's answer for the window (now, until)."""
    cdef int64_t k = ahead(&s.faults.foreseen, node, s.now)
    return k < s.faults.foreseen.start[node + 1] and s.faults.foreseen.begin[k] < until


cdef inline bint is_right(workflow_t *s, int32_t node, double until, bint answer) noexcept nogil:
    cdef int64_t k
    if s.faults.n == 0:
        return not answer
    k = ahead(&s.faults.failing, node, s.now)
    return answer == (k < s.faults.failing.start[node + 1] and s.faults.failing.begin[k] < until)


cdef void count_pass(workflow_t *s) noexcept nogil:
    """One question to the predictor per free node, for the job with the finishes computed last."""
    cdef int32_t i, node
    cdef uint64_t word
    s.count.pass_asked += s.machine.n_free
    if s.faults.n == 0 and not s.asks:
        s.count.pass_right += s.machine.n_free
        return
    for i in range(s.machine.words):
        word = s.machine.free[i]
        while word:
            node = (i << 6) + fs_lowest(word)
            word &= word - 1
            s.count.pass_right += is_right(
                s, node, s.scan.finish_on[node], s.asks and is_foreseen(s, node, s.scan.finish_on[node]))


cdef void count_refusals(workflow_t *s, node_choice_t *choice) noexcept nogil:
    """The nodes that were asked before the chosen one, all of which are predicted to fail; all, if none is chosen."""
    cdef int32_t i, node
    cdef int64_t k
    cdef uint64_t word
    cdef double finish
    for i in range(s.machine.words):
        word = s.machine.free[i]
        while word:
            node = (i << 6) + fs_lowest(word)
            word &= word - 1
            finish = s.scan.finish_on[node]
            if finish > choice.finish or finish == choice.finish and node >= choice.node >= 0:
                continue
            choice.asked += 1
            s.count.node_right += is_right(s, node, finish, True)
            k = ahead(&s.faults.foreseen, node, s.now)
            if s.faults.foreseen.end[k] < choice.wake:
                choice.wake = s.faults.foreseen.end[k]


cdef void choose_node(workflow_t *s, int32_t job, bint first, const inputs_t *inputs,
                      node_choice_t *choice) noexcept nogil:
    """The free node with the earliest finish for which no failure is predicted."""
    cdef int32_t i, node
    cdef uint64_t word
    cdef double finish
    cdef bint refused = False
    s.n_looks += s.machine.n_free
    choice.node = -1
    choice.finish = INFINITY
    choice.asked = 0
    choice.wake = INFINITY
    for i in range(s.machine.words):
        word = s.machine.free[i]
        while word:
            node = (i << 6) + fs_lowest(word)
            word &= word - 1
            finish = (s.now + input_time(s, job, node, inputs)) + duration(s, job, node)
            s.scan.finish_on[node] = finish
            if s.asks and is_foreseen(s, node, finish):
                refused = True
            elif choice.node < 0 or finish < choice.finish:
                choice.node = node
                choice.finish = finish
    if first:
        count_pass(s)
    if refused:
        count_refusals(s, choice)
    if choice.node >= 0:
        choice.asked += 1
        s.count.node_right += is_right(s, choice.node, choice.finish, False)
    s.count.node_asked += choice.asked


# ------------------------------------------------------------------------------------ nodes that are alike

cdef inline bint is_free(const workflow_t *s, int32_t node) noexcept nogil:
    return (s.machine.free[node >> 6] >> (node & 63)) & 1


cdef inline bint is_special(const workflow_t *s, int32_t node, const inputs_t *inputs) noexcept nogil:
    """Whether the input time on a node is not that of all others."""
    return s.scan.seen[node] >= s.scan.stamp if s.moves.in_turn else node == inputs.most_from


cdef int32_t free_special(workflow_t *s, int32_t job, const inputs_t *inputs) noexcept nogil:
    """The free special nodes, each once, into `gathered`, and their finishes; how many."""
    cdef int32_t node, n = 0
    cdef int64_t e
    if not s.moves.in_turn:
        if inputs.most_from >= 0 and is_free(s, inputs.most_from):
            s.scan.gathered[0] = inputs.most_from
            n = 1
    else:
        for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
            node = s.job.node[s.graph.before[e]]
            if s.scan.seen[node] == s.scan.stamp:
                s.scan.seen[node] += 1
                if is_free(s, node):
                    s.scan.gathered[n] = node
                    n += 1
    for e in range(n):
        node = s.scan.gathered[e]
        s.scan.finish_on[node] = (s.now + input_time(s, job, node, inputs)) + duration(s, job, node)
    return n


cdef int32_t next_plain(const workflow_t *s, int32_t node, const inputs_t *inputs) noexcept nogil:
    """The first free node from `node` on that is not special, -1: none."""
    cdef int32_t i = node >> 6
    cdef uint64_t word
    if i >= s.machine.words:
        return -1
    word = s.machine.free[i] & ((~<uint64_t>0) << (node & 63))
    while True:
        while word:
            node = (i << 6) + fs_lowest(word)
            if not is_special(s, node, inputs):
                return node
            word &= word - 1
        i += 1
        if i == s.machine.words:
            return -1
        word = s.machine.free[i]


cdef inline bint answered_right(workflow_t *s, int32_t node, double finish) noexcept nogil:
    return is_right(s, node, finish, s.asks and is_foreseen(s, node, finish))


cdef int64_t count_wrong(workflow_t *s, const int32_t *node, const double *begin, int64_t k, int64_t n, double finish,
                         const inputs_t *inputs, int64_t *most) noexcept nogil:
    """Wrong answers about free nodes that are not special, among the rows from k on that begin before `finish`.

    Every node counts once a pass.  `most` is how many rows to look at; it is negative if there are more.
    """
    cdef int64_t wrong = 0
    while k < n and begin[k] < finish:
        most[0] -= 1
        if most[0] < 0:
            break
        if (s.scan.counted[node[k]] != s.scan.stamp and is_free(s, node[k])
                and not is_special(s, node[k], inputs)):
            s.scan.counted[node[k]] = s.scan.stamp
            wrong += not answered_right(s, node[k], finish)
        k += 1
    return wrong


cdef void count_pass_alike(workflow_t *s, double finish, int32_t n, const inputs_t *inputs) noexcept nogil:
    """As `count_pass`: an answer can be wrong only about a node that fails, or is predicted to, until `finish`."""
    cdef int64_t wrong = 0, most = s.machine.n_free
    cdef int32_t i, node
    if s.faults.n > 0 or s.asks:
        for i in range(n):
            wrong += not answered_right(s, s.scan.gathered[i], s.scan.finish_on[s.scan.gathered[i]])
        wrong += count_wrong(
            s, s.faults.node, s.faults.time, s.faults.next, s.faults.n, finish, inputs, &most)
        if s.asks and most >= 0:
            while s.faults.next_warned < s.faults.n_warned and s.faults.warned_until[s.faults.next_warned] <= s.now:
                s.faults.next_warned += 1
            wrong += count_wrong(
                s, s.faults.warned, s.faults.warned_from, s.faults.next_warned, s.faults.n_warned, finish, inputs,
                &most)
        s.n_looks += s.machine.n_free - most
    if most < 0:                 # the nodes are fewer
        node = next_plain(s, 0, inputs)
        while node >= 0:
            s.scan.finish_on[node] = finish
            node = next_plain(s, node + 1, inputs)
        count_pass(s)
        return
    s.count.pass_asked += s.machine.n_free
    s.count.pass_right += s.machine.n_free - wrong


cdef inline void count_refusal(workflow_t *s, int32_t node, double finish, node_choice_t *choice) noexcept nogil:
    cdef double end = s.faults.foreseen.end[ahead(&s.faults.foreseen, node, s.now)]
    choice.asked += 1
    s.count.node_right += is_right(s, node, finish, True)
    if end < choice.wake:
        choice.wake = end


cdef void choose_alike(workflow_t *s, int32_t job, bint first, const inputs_t *inputs,
                       node_choice_t *choice) noexcept nogil:
    """As `choose_node`: all nodes finish the job at the same time, but for the special ones."""
    cdef int32_t i, n, node
    cdef double finish, plain
    n = free_special(s, job, inputs)
    plain = (s.now + (inputs.total if s.moves.in_turn else inputs.most)) + duration(s, job, 0)
    choice.node = -1
    choice.finish = INFINITY
    choice.asked = 0
    choice.wake = INFINITY
    for i in range(n):
        node = s.scan.gathered[i]
        finish = s.scan.finish_on[node]
        if not (s.asks and is_foreseen(s, node, finish)) and (
                choice.node < 0 or finish < choice.finish or finish == choice.finish and node < choice.node):
            choice.node = node
            choice.finish = finish
    s.n_looks += n
    node = next_plain(s, 0, inputs)
    while node >= 0 and (choice.node < 0 or plain < choice.finish or plain == choice.finish and node < choice.node):
        s.n_looks += 1
        if not (s.asks and is_foreseen(s, node, plain)):
            choice.node = node
            choice.finish = plain
            break
        count_refusal(s, node, plain, choice)
        node = next_plain(s, node + 1, inputs)
    for i in range(n if s.asks else 0):
        node = s.scan.gathered[i]
        finish = s.scan.finish_on[node]
        if choice.node < 0 or finish < choice.finish or finish == choice.finish and node < choice.node:
            count_refusal(s, node, finish, choice)
    if first:
        count_pass_alike(s, plain, n, inputs)
    if choice.node >= 0:
        choice.asked += 1
        s.count.node_right += is_right(s, choice.node, choice.finish, False)
    s.count.node_asked += choice.asked


# ---------------------------------------------------------------------------------------------- passes

cdef int make_pass(workflow_t *s) noexcept nogil:
    """Put what can be put on free nodes, in order."""
    cdef bint rising = s.pool.ascending and s.pool.n_workflows > 1, first = True
    cdef int32_t place = 0, job, node
    cdef int32_t *job_at = s.pool.up_job if rising else s.pool.down_job
    cdef int64_t stays = 0
    cdef double wake = INFINITY, begin
    cdef bint hungry = False
    cdef inputs_t inputs
    cdef node_choice_t choice
    cdef event_t entry
    cdef int code = OK
    if not s.changed:
        return OK
    s.wake = INFINITY
    # Jobs before `place` in the order (or popped from the queue, if fifo) have started, are parked, or found no node
    # and stay in the pool; `wake` is the earliest time at which one of these may find a node without another event.
    while s.machine.n_free > 0:
        if s.pool.fifo:
            if not heap_pop(&s.pool.queue, &entry):
                break
            job = <int32_t>entry.serial
        else:
            place = bit_tree_next(&s.pool.up if rising else &s.pool.down, place)
            if place < 0:
                break
            job = job_at[place]
            place += 1
        node = blocked_by(s, job)
        if node >= 0:
            park(s, job, node)       # until the node is repaired nothing can change that
            continue
        gather(s, job, &inputs)
        if s.machine.alike:
            choose_alike(s, job, first, &inputs, &choice)
        else:
            choose_node(s, job, first, &inputs, &choice)
        first = False
        if choice.wake < wake:
            wake = choice.wake
        if choice.node >= 0:
            leave_pool(s, job)
            begin = s.now + input_time(s, job, choice.node, &inputs)
            if (keep_decision(s, job, choice.node, begin, choice.finish, choice.asked) < 0
                    or hold_node(s, job, choice.node, begin, choice.finish) < 0):
                return NO_MEMORY
            continue
        hungry = True
        if s.pool.fifo:
            s.scan.stay[stays] = entry
            stays += 1
    while stays > 0:
        stays -= 1
        if heap_push(&s.pool.queue, s.scan.stay[stays].time, 0, s.scan.stay[stays].serial) < 0:
            code = NO_MEMORY
    if hungry and s.machine.n_busy == 0:
        s.wake = wake
    return code


# ---------------------------------------------------------------------------------------------- events

cdef int release_successors(workflow_t *s, int32_t job) noexcept nogil:
    """Jobs that waited for nothing else enter the pool."""
    cdef int32_t other
    cdef int64_t e
    for e in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
        other = s.graph.after[e]
        s.job.pending[other] -= 1
        if s.job.pending[other] == 0 and enter_pool(s, other) < 0:
            return NO_MEMORY
    return OK


cdef bint is_receiving(const workflow_t *s, int32_t job, int32_t source) noexcept nogil:
    """Whether a transfer to a job on a node is not over, from an output on `source`."""
    cdef int64_t e
    cdef double time, total = 0.0, begun = s.job.begun[job]
    if s.job.ready[job] <= s.now:
        return False
    for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
        time = moving(s, s.graph.before_size[e], s.job.node[s.graph.before[e]], s.job.node[job])
        total += time
        if s.job.node[s.graph.before[e]] == source and begun + (total if s.moves.in_turn else time) > s.now:
            return True
    return False


cdef int kill_receivers(workflow_t *s, int32_t source) noexcept nogil:
    """What is being sent from a node that fails, in the order of jobs."""
    cdef int32_t node, job, n = 0, i
    if s.moves.shared or s.machine.n_busy == 0:
        return OK
    for node in range(s.nodes):
        job = s.machine.on[node]
        if job < 0 or not is_receiving(s, job, source):
            continue
        i = n
        while i > 0 and s.scan.gathered[i - 1] > job:
            s.scan.gathered[i] = s.scan.gathered[i - 1]
            i -= 1
        s.scan.gathered[i] = job
        n += 1
    for i in range(n):
        if kill_job(s, s.scan.gathered[i]) < 0:
            return NO_MEMORY
    return OK


# ---------------------------------------------------------------------------------------------- factories

cdef int open_rank_hybd(void *workflows, dict options, dict columns) except -1:
    cdef workflow_t *s = <workflow_t *>workflows
    s.scheduler.done, s.scheduler.killed, s.scheduler.failed = release_successors, enter_pool, kill_receivers
    s.scheduler.act = make_pass
    s.pool.ascending = options.get("across") == "ascending"
    s.asks = options.get("aware", False)
    return 0


cdef int open_flaw(void *workflows, dict options, dict columns) except -1:
    open_rank_hybd(workflows, options, columns)
    (<workflow_t *>workflows).asks = True
    return 0


cdef int open_fifo(void *workflows, dict options, dict columns) except -1:
    open_rank_hybd(workflows, options, columns)
    (<workflow_t *>workflows).pool.fifo = True
    return 0


RANK_HYBD = factory(open_rank_hybd)
FLAW = factory(open_flaw)
FIFO = factory(open_fifo)
