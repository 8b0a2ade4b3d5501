"""Slurm's controller over time, compiled: what `faultsim.reference.slurm.controller.Controller` does, for the nodes
and jobs of runs (model.md#slurm-time)."""

from libc.math cimport INFINITY, ceil, floor, isfinite, pow
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset

from faultsim._core.containers.memory cimport arena_free, arena_t, arena_zeros, enlarged
from faultsim._core.slurm.chains cimport Chains
from faultsim._core.slurm.loops cimport (
    slurm_book, slurm_cycle, slurm_end_at, slurm_leave, slurm_next_edge, slurm_pass, slurm_reservation_open,
)
from faultsim._core.slurm.preemption cimport slurm_class, slurm_takes
from faultsim._core.slurm.rules cimport (
    MANY_NODES, SLURM_BILLING, SLURM_CPU, SLURM_GONE, SLURM_GPU, SLURM_LATER, SLURM_MEMORY, SLURM_NODE, SLURM_RESOURCES,
    SLURM_WAITING, slurm_answer_t, slurm_booked_t, slurm_form_t, slurm_job_t, slurm_record_t, slurm_room_t, slurm_run_t,
    slurm_t, slurm_tally_t,
)
from faultsim._core.slurm.selection cimport slurm_choose, slurm_reset_keys
from faultsim._core.status cimport OK
from faultsim._core.thresholds cimport thresholds

# Priority of the first job with ``PriorityType=priority/basic``, and the largest: priorities are words of 32 bits.
cdef int64_t FIRST_PRIORITY = 4294901759, LARGEST_PRIORITY = 4294967295
# Seconds between two looks at time limits, and at reservations; for which the nodes of a stopped job take no other; and
# until a requeued job is eligible.
cdef double TIME_CHECK = 30.0, RESERVED_CHECK = 5.0, CLEAN_UP = 1.0, REQUEUE_DELAY = 121.0

# An account, or a user in an account.
cdef struct share_node_t:
    int32_t parent           # -1: root
    int32_t first, n         # its level: items of `member`
    bint user, of_parent     # of_parent: ``fairshare=parent``
    double shares, total     # total: of its level
    double usage, factor, level
    double share, norm       # of its level; product of those on the way to root
    double effective         # usage, by the classic formula
    bint known               # whether `effective` and `factor` are those of this period


cdef int enlarge(void *field, size_t count, size_t each) except -1:
    if not enlarged(field, count, each):
        raise MemoryError
    return 0


cdef class SlurmStart:
    """A job that starts: its number, its nodes and the CPUs on each."""

    cdef readonly int job
    cdef readonly list nodes
    cdef readonly list cpus


cdef class SlurmActs:
    """What is to be done in a second: jobs that end, with whether they wait again, and then jobs that start."""

    cdef readonly list stop
    cdef readonly list start

    def __cinit__(self):
        self.stop, self.start = [], []


cdef class Controller:
    """The state of a controller.

    Parameters
    ----------
    site : SlurmNodes
        Nodes, partitions, QOS, associations and settings.
    priorities : PrioritySite
        What priorities depend on.
    begin : float
        The second in which it starts: periods are counted from it.
    booked : sequence of Booked
        Reservations.
    """

    cdef slurm_t s
    cdef arena_t arena
    cdef object site, priorities, settings
    cdef Chains chains
    cdef double *qos_usage   # per QOS
    cdef int32_t qos_room
    cdef dict forms, users, pairs, qos, trees, later, dirty, parts, reservations
    cdef set numbered
    cdef list fresh
    cdef share_node_t *tree
    cdef int32_t *member
    cdef int32_t tree_n, tree_users, rank, next_rank
    cdef double *over        # per partition: seconds
    cdef int32_t *scratch
    cdef double begin, asked, full, cycle, period, rate, delay, full_step, cycle_step
    cdef bint classic        # ``PriorityFlags=NO_FAIR_TREE``
    cdef bint merges         # accounts with equal levels in the fair tree
    cdef int32_t *merged     # scratch of `rank_below`: those on the way down are different ones, so no more than all
    cdef double dampening
    cdef double edge, over_run       # when a begin or end of a reservation is noticed; seconds
    cdef int32_t reserved_runs
    # `unordered`: records may go before each other in a circle.  Then a loop that finds the queue `stale` sorts it from
    # `created`, the records in the order in which jobs began to wait.
    cdef int32_t *created
    cdef int32_t n_created
    cdef bint unordered, stale
    cdef bint *requeues      # per class of preemption: its jobs wait again
    cdef double age, fairshare, job_size, max_age
    cdef bint requested, at_once, basic, backfills, favors_small, by_time, only_rises
    cdef int64_t cluster_nodes, cluster_cpus, waiting

    def __cinit__(self, *args):
        memset(&self.s, 0, sizeof(slurm_t))
        memset(&self.arena, 0, sizeof(arena_t))

    def __dealloc__(self):
        cdef int32_t i
        for i in range(self.s.n_running):
            free(self.s.running[i])
        free(self.s.running)
        free(self.s.by_end)
        free(self.s.started)
        free(self.s.form)
        free(self.s.record)
        free(self.s.job)
        free(self.s.queue)
        free(self.s.count_user)
        free(self.s.count_pair)
        free(self.s.count_user_part)
        free(self.s.slot)
        free(self.s.pool)
        free(self.s.pool_nodes)
        free(self.s.victim)
        free(self.s.ended)
        free(self.s.preempted)
        free(self.created)
        free(self.s.tally)
        free(self.s.chain)
        free(self.s.put_off)
        free(self.s.put_off_in)
        free(self.qos_usage)
        free(self.scratch)
        arena_free(&self.arena)

    def __init__(self, site, priorities, double begin, booked=()):
        if any(len(gpus) > 1 for gpus in site.gpus):
            raise ValueError("the compiled controller takes no nodes with GPUs of several types")
        settings = site.conf.settings
        self.site, self.priorities, self.settings = site, priorities, settings
        self.forms, self.users, self.pairs, self.qos, self.trees = {}, {}, {}, {}, {}
        self.later, self.dirty, self.numbered, self.fresh = {}, {}, set(), []
        self.begin = self.s.last_period = begin
        self.asked = -INFINITY
        self.delay = settings["batch_sched_delay"]
        self.full_step = max(1.0, float(settings["sched_interval"]))
        self.cycle_step = max(1.0, float(settings["bf_interval"]))
        self.period = max(1.0, float(settings["PriorityCalcPeriod"]))
        self.full, self.cycle = self.grid(begin, self.full_step), self.grid(begin, self.cycle_step)
        half_life = priorities.half_life
        self.rate = max(0.0, 1.0 - 0.693 / half_life) if half_life > 0 else 1.0
        self.basic = settings["PriorityType"] != "priority/multifactor"
        self.backfills = settings["SchedulerType"] == "sched/backfill"
        weights = priorities.weights
        self.age, self.fairshare, self.job_size = weights.age, weights.fairshare, weights.job_size
        self.max_age, self.favors_small = weights.max_age, weights.favor_small
        self.by_time, self.only_rises = "SMALL_RELATIVE_TO_TIME" in weights.flags, "INCR_ONLY" in weights.flags
        self.cluster_nodes, self.cluster_cpus = priorities.cluster.nodes, priorities.cluster.cpus
        self.set_nodes(site)
        self.set_options(settings)
        self.set_booked(booked)
        self.merges = priorities.merge_tied
        self.classic, self.dampening = "NO_FAIR_TREE" in weights.flags, priorities.dampening
        self.set_tree(priorities.accounts)
        for name in site.conf.qos:
            self.number(self.qos, name)
        for qos in site.conf.qos.values():
            for name in qos.preempt:
                self.number(self.qos, name)
        self.more_qos()
        if site.preempts:
            self.set_preemption(site)
        self.chains = Chains()
        self.chains.open(&self.s, &self.arena, site, self.qos, self.trees)
        if self.classic:
            self.begin_period()
        else:
            self.rank_all()

    cdef void *zeros(self, size_t count, size_t each) except NULL:
        cdef void *block = arena_zeros(&self.arena, max(<size_t>1, count), each)
        if block == NULL:
            raise MemoryError
        return block

    cdef uint64_t *new_mask(self, nodes) except NULL:
        cdef uint64_t *mask = <uint64_t *>self.zeros(self.s.words, sizeof(uint64_t))
        cdef int32_t node
        for node in nodes:
            mask[node >> 6] |= <uint64_t>1 << (node & 63)
        return mask

    cdef int set_room(self, slurm_room_t *room) except -1:
        cdef size_t n = self.s.nodes
        room.cores = <int32_t *>self.zeros(n, sizeof(int32_t))
        room.memory = <int64_t *>self.zeros(n, sizeof(int64_t))
        room.gpus = <int32_t *>self.zeros(n, sizeof(int32_t))
        room.jobs = <int32_t *>self.zeros(n, sizeof(int32_t))
        room.whole = <int32_t *>self.zeros(n, sizeof(int32_t))
        room.held = <int32_t *>self.zeros(n * <size_t>self.s.partitions, sizeof(int32_t))
        for node in range(n):
            room.cores[node] = self.site.cores[node]
            room.memory[node] = self.site.memory[node]
            room.gpus[node] = sum(self.site.gpus[node].values())
        return 0

    cdef int set_nodes(self, site) except -1:
        cdef slurm_t *s = &self.s
        cdef size_t n = len(site.names), words = (n + 63) // 64, parts = len(site.partitions)
        cdef int32_t i
        s.nodes, s.words, s.partitions = n, words, parts
        self.set_room(&s.room)
        self.set_room(&s.empty)
        self.set_room(&s.later)
        s.weight, s.keys = <int64_t *>self.zeros(n, 8), <int64_t *>self.zeros(n, 8)
        for i in range(s.nodes):
            s.weight[i] = site.weight[i]
            s.keys[i] = s.weight[i] * 256 + 255
        s.up, s.cleaning = self.new_mask(range(n)), self.new_mask(())
        s.have, s.chosen, s.candidates = self.new_mask(()), self.new_mask(()), self.new_mask(())
        s.planned, s.usable, s.idle = self.new_mask(()), self.new_mask(()), self.new_mask(())
        s.touched, s.lowered = self.new_mask(()), self.new_mask(())
        s.answers = thresholds.slurm_answers
        s.answer = <slurm_answer_t *>self.zeros(s.answers, sizeof(slurm_answer_t))
        for i in range(s.answers):
            s.answer[i].candidates = self.new_mask(())
        s.avail, s.listed = <int32_t *>self.zeros(n, 4), <int32_t *>self.zeros(n, 4)
        s.run_first, s.run_n = <int32_t *>self.zeros(n, 4), <int32_t *>self.zeros(n, 4)
        s.run_sum = <int64_t *>self.zeros(n, 8)
        s.chosen_cpus = <int32_t *>self.zeros(n, 4)
        s.found, s.found_cpus = <int32_t *>self.zeros(n, 4), <int32_t *>self.zeros(n, 4)
        s.of_partition = <uint64_t **>arena_zeros(&self.arena, max(<size_t>1, parts), sizeof(void *))
        if s.of_partition == NULL:
            raise MemoryError
        s.closed = <bint *>self.zeros(parts, sizeof(bint))
        s.count_part, s.in_queue = <int32_t *>self.zeros(parts, 4), <int32_t *>self.zeros(parts, 4)
        self.over = <double *>self.zeros(parts, sizeof(double))
        self.parts = {name: at for at, name in enumerate(site.partitions)}
        for i, (name, part) in enumerate(site.partitions.items()):
            s.of_partition[i] = self.new_mask(site.nodes_of[name])
            own = part.over_time_limit
            self.over[i] = 60.0 * float(self.settings["OverTimeLimit"] if own is None else own)
        s.manages_memory, s.preempts = site.manages_memory, site.preempts
        s.least_loaded, s.serial_at_end, s.busy_first = site.least_loaded, site.pack_serial_at_end, site.busy_first
        return 0

    cdef int set_options(self, settings) except -1:
        cdef slurm_t *s = &self.s
        s.window, s.resolution = 60.0 * settings["bf_window"], max(1.0, float(settings["bf_resolution"]))
        s.late = settings["KillWait"] + 60.0 * (settings["OverTimeLimit"] or 0.0)
        s.linear, s.min_age = settings["bf_window_linear"], settings["bf_min_age_reserve"] or 0.0
        s.min_priority = settings["bf_min_prio_reserve"] or 0
        size = settings["bf_node_space_size"]
        s.most_tests = settings["bf_max_job_test"]
        s.most_records = s.most_tests if size is None else size
        s.most_starts, s.most_part = settings["bf_max_job_start"], settings["bf_max_job_part"]
        s.most_user, s.most_pair = settings["bf_max_job_user"], settings["bf_max_job_assoc"]
        s.most_user_part, s.one_plan = settings["bf_max_job_user_part"], settings["bf_one_resv_per_job"]
        s.depth, s.part_depth = settings["default_queue_depth"], settings["partition_job_depth"]
        return 0

    cdef int set_booked(self, booked) except -1:
        cdef slurm_t *s = &self.s
        cdef int32_t i
        cdef slurm_booked_t *b
        s.open_, s.away = self.new_mask(()), self.new_mask(())
        s.n_booked = len(booked)
        s.booked = <slurm_booked_t *>self.zeros(s.n_booked, sizeof(slurm_booked_t))
        for i, each in enumerate(booked):
            b = &s.booked[i]
            b.first_start, b.first_end, b.every = each.first.start, each.first.end, each.every
            b.maintenance, b.all_nodes = each.first.maintenance, each.first.all_nodes
            b.nodes = self.new_mask(each.first.nodes)
        self.reservations = {each.first.name: i for i, each in enumerate(booked)}
        self.over_run = 60.0 * self.settings["ResvOverRun"]
        slurm_book(s, self.begin)
        self.edge = self.edge_after(self.begin)
        return 0

    cdef double edge_after(self, double now):
        """When the first begin or end of a reservation after now is noticed."""
        cdef double edge = slurm_next_edge(&self.s, now)
        if not isfinite(edge):
            return INFINITY
        return self.begin + RESERVED_CHECK * ceil((edge - self.begin) / RESERVED_CHECK)

    # -- preemption

    cdef int set_preemption(self, site) except -1:
        """Which QOS, or which partitions, take the place of which others."""
        cdef slurm_t *s = &self.s
        cdef int32_t i, k
        cdef bint any_takes = False
        settings, by_qos = self.settings, site.by_qos
        kinds = [site.conf.qos.get(name) for name in self.qos] if by_qos else list(site.partitions.values())
        s.by_qos, s.classes = by_qos, len(kinds)
        s.youngest_first, s.reorders = settings["preempt_youngest_first"], settings["preempt_reorder_count"]
        s.exempt, s.victimless = settings["PreemptExemptTime"], settings["KillWait"] + settings["MessageTimeout"]
        s.takes = <bint *>self.zeros(<size_t>s.classes * <size_t>s.classes, sizeof(bint))
        s.takes_some = <bint *>self.zeros(s.classes, sizeof(bint))
        s.spared = <bint *>self.zeros(s.classes, sizeof(bint))
        self.requeues = <bint *>self.zeros(s.classes, sizeof(bint))
        s.grace, s.rank = <double *>self.zeros(s.classes, sizeof(double)), <int64_t *>self.zeros(s.classes, 8)
        names = list(self.qos) if by_qos else list(site.partitions)
        for i, one in enumerate(kinds):
            mode = "CLUSTER" if one is None else one.preempt_mode.upper()
            mode = site.mode if by_qos and mode in ("CLUSTER", "") else mode
            s.spared[i], self.requeues[i] = mode == "OFF", mode == "REQUEUE" and settings["JobRequeue"]
            if one is None:
                continue
            s.grace[i], s.rank[i] = one.grace_time, one.priority if by_qos else one.priority_tier * 65536
            for k, other in enumerate(kinds):
                if by_qos:
                    taken = names[k] in one.preempt
                else:
                    both = set(site.nodes_of[names[i]]) & set(site.nodes_of[names[k]])
                    taken = one.priority_tier > other.priority_tier and both
                s.takes[i * s.classes + k] = bool(taken)
                s.takes_some[i] = s.takes_some[i] or taken
                any_takes = any_takes or taken
        # By tiers alone preemptors go first anyway.
        self.unordered = any_takes and (s.by_qos or s.n_booked > 0)
        return 0

    # -- the tree of accounts

    cdef int set_tree(self, accounts) except -1:
        cdef int32_t at = 0, i
        every = list(accounts.root.all())
        numbers = {(each.account, each.user): i for i, each in enumerate(every)}
        self.trees = numbers
        self.tree_n = len(every)
        self.tree = <share_node_t *>self.zeros(self.tree_n, sizeof(share_node_t))
        self.merged = <int32_t *>self.zeros(self.tree_n, sizeof(int32_t))
        levels = [list(_level(each)) for each in every]
        self.member = <int32_t *>self.zeros(sum(map(len, levels)), sizeof(int32_t))
        for i, each in enumerate(every):
            node = &self.tree[i]
            node.parent = -1 if each.parent is None else numbers[each.parent.account, each.parent.user]
            node.user, node.of_parent = bool(each.user), each.shares == -1
            node.shares, node.usage = each.shares, each.usage
            node.total = sum(below.shares for below in levels[i] if below.shares != -1)
            node.first, node.n = at, len(levels[i])
            for below in levels[i]:
                self.member[at] = numbers[below.account, below.user]
                at += 1
            self.tree_users += node.user
            total = 0
            if each.parent is not None:
                total = sum(below.shares for below in each.parent.children if below.shares != -1)
            node.share = 1.0 if each.parent is None else each.shares / total if total else 0.0
        for i, each in enumerate(every):
            node = &self.tree[i]
            node.norm = 1.0
            for above in each.path():
                node.norm *= self.tree[<int32_t>numbers[above.account, above.user]].share
        return 0

    # -- fair share by the classic formula

    cdef double effective_of(self, int32_t at) noexcept:
        """Effective usage, from the present usage and that of the account above."""
        cdef share_node_t *each = &self.tree[at]
        cdef double own = each.usage / self.tree[0].usage if self.tree[0].usage != 0.0 else 0.0
        if each.parent <= 0:
            return own
        return own + (self.tree[each.parent].effective - own) * each.share

    cdef void begin_period(self) noexcept:
        """Values of accounts, each after the one above it; those of users are computed when they are needed."""
        cdef int32_t i
        for i in range(1, self.tree_n):
            self.tree[i].known = False
            if not self.tree[i].user:
                self.tree[i].effective = self.effective_of(i)

    cdef double classic_factor(self, int32_t at) noexcept:
        cdef share_node_t *each = &self.tree[at]
        if each.norm <= 0.0:
            return 0.0
        if not each.known:
            each.effective, each.known = self.effective_of(at), True
            each.factor = pow(2.0, -(each.effective / each.norm) / self.dampening)
        return each.factor

    # -- the fair tree

    cdef void rank_all(self) noexcept:
        cdef int32_t root = 0
        self.rank = self.next_rank = self.tree_users
        if self.tree_users:
            self.rank_below(&root, 1, self.merged, False)

    cdef void find_levels(self, const share_node_t *above) noexcept:
        """Levels of fair share of what shares the level below an account."""
        cdef share_node_t *each
        cdef double share, used
        cdef int32_t i
        for i in range(above.first, above.first + above.n):
            each = &self.tree[self.member[i]]
            share = each.shares / above.total if above.total != 0.0 else 0.0
            used = each.usage / above.usage if above.usage != 0.0 else 0.0
            if each.of_parent:
                each.level = INFINITY
            elif share == 0.0:
                each.level = 0.0
            else:
                each.level = share / used if used != 0.0 else INFINITY

    cdef void rank_below(self, const int32_t *parents, int32_t n_parents, int32_t *room, bint tied_above) noexcept:
        """Rank all below an account: its level by falling level of fair share, users first, then by name.

        Or below several that are merged; then `room` has what shares the level.
        """
        cdef const share_node_t *above = &self.tree[parents[0]]
        cdef const share_node_t *each
        cdef int32_t *member = self.member + above.first
        cdef int32_t i, k, own, n = above.n, many = 1
        cdef double last = 0.0
        cdef bint tied
        self.find_levels(above)
        if n_parents > 1:
            member, n = room, 0
            for i in range(n_parents):
                above = &self.tree[parents[i]]
                self.find_levels(above)
                memcpy(room + n, self.member + above.first, <size_t>above.n * sizeof(int32_t))
                n += above.n
            room += n
        # The order is nearly that of the last period.  Equal ones keep the order of the tree: their numbers.
        for i in range(1, n):
            own = member[i]
            k = i
            while k and self.ranks_before(own, member[k - 1]):
                member[k] = member[k - 1]
                k -= 1
            member[k] = own
        i = 0
        while i < n:
            each = &self.tree[member[i]]
            many = 1
            tied = tied_above if i == 0 else each.level == last
            last = each.level
            if each.user:
                if not tied:
                    self.rank = self.next_rank
                self.tree[member[i]].factor = <double>self.rank / <double>self.tree_users
                self.next_rank -= 1
            else:
                while self.merges and i + many < n and self.tree[member[i + many]].level == last:
                    many += 1            # behind an account, at an equal level, there are only accounts
                self.rank_below(member + i, many, room, tied)
            i += many

    cdef bint ranks_before(self, int32_t one, int32_t other) noexcept:
        cdef share_node_t *a = &self.tree[one]
        cdef share_node_t *b = &self.tree[other]
        if a.level != b.level:
            return a.level > b.level
        if a.user != b.user:
            return a.user
        return one < other

    # -- what happens

    cdef int32_t form_of(self, ask, str name) except -1:
        cdef slurm_t *s = &self.s
        cdef slurm_form_t *f
        key = (ask.min_nodes, ask.max_nodes, ask.tasks, ask.cpus_per_task, ask.memory, ask.per_cpu, ask.gpus,
               ask.gpu_type, ask.exclusive, ask.features, name)
        found = self.forms.get(key)
        if found is not None:
            return found
        if ask.required or ask.excluded:
            raise ValueError("the compiled controller takes no jobs that name nodes")
        if s.forms == s.form_room:
            enlarge(&s.form, 2 * s.form_room + 64, sizeof(slurm_form_t))
            s.form_room = 2 * s.form_room + 64
        part, settings = self.site.partitions[name], self.settings
        f = &s.form[s.forms]
        f.partition = self.parts[name]
        f.min_nodes, f.max_nodes, f.least = ask.min_nodes, ask.max_nodes, max(1, ask.min_nodes)
        f.tasks, f.per_task, f.need = ask.tasks, ask.cpus_per_task, ask.need
        f.most = ask.max_nodes or part.max_nodes or MANY_NODES
        if f.tasks < f.most:
            f.most = max(f.tasks, f.least)
        f.memory, f.per_cpu = ask.memory, ask.per_cpu
        if not ask.memory:
            per_cpu = part.def_mem_per_cpu or settings["DefMemPerCPU"]
            per_node = part.def_mem_per_node or settings["DefMemPerNode"]
            f.memory, f.per_cpu = per_node or per_cpu or 0, bool(per_cpu and not per_node)
        f.gpus = ask.gpus
        f.most_cpus = -1 if part.max_cpus_per_node is None else part.max_cpus_per_node
        f.takes_whole = ask.exclusive
        f.exclusive = ask.exclusive or part.over_subscribe.upper().startswith("EXCLUSIVE")
        f.least_loaded = s.least_loaded or part.lln
        features = self.site.features_of(ask.features)
        nodes = [node for node in self.site.nodes_of[name] if features[node]]
        f.nodes = self.new_mask(nodes)
        f.fitting = self.new_mask(
            node for node in nodes
            if s.empty.cores[node] >= f.per_task
            and (f.per_cpu or not s.manages_memory or s.empty.memory[node] >= f.memory)
        )
        f.typed = self.new_mask(
            node for node, each in enumerate(self.site.gpus)
            if s.empty.gpus[node] >= f.gpus and (not ask.gpu_type or ask.gpu_type in each)
        )
        self.forms[key] = s.forms
        s.forms += 1
        return s.forms - 1

    cdef bint allows(self, job, str name) except -1:
        """Whether a partition takes a job of this size, time limit, account and QOS."""
        part = self.site.partitions[name]
        if part.state.upper() in ("DOWN", "INACTIVE"):
            return False
        if part.max_time is not None and 60.0 * job.limit > part.max_time:
            return False
        if part.max_nodes is not None and job.ask.min_nodes > part.max_nodes:
            return False
        if job.ask.max_nodes and job.ask.max_nodes < part.min_nodes:
            return False
        if (part.allow_accounts and job.account not in part.allow_accounts) or job.account in part.deny_accounts:
            return False
        return not ((part.allow_qos and job.qos not in part.allow_qos) or job.qos in part.deny_qos)

    cdef int32_t number(self, dict names, key) except -1:
        """The number of a user, or of a user in an account."""
        found = names.get(key)
        if found is None:
            names[key] = found = len(names)
        return found

    cdef int more_users(self) except -1:
        """Counts of a cycle for all users so far."""
        cdef slurm_t *s = &self.s
        cdef size_t parts = s.partitions
        s.users, s.pairs = len(self.users), len(self.pairs)
        enlarge(&s.count_user, s.users, sizeof(int32_t))
        enlarge(&s.count_pair, s.pairs, sizeof(int32_t))
        enlarge(&s.count_user_part, <size_t>s.users * parts, sizeof(int32_t))
        return 0

    cdef int more_qos(self) except -1:
        """Usage of all QOS so far."""
        cdef slurm_t *s = &self.s
        cdef int32_t room = len(self.qos)
        if room <= self.qos_room:
            return 0
        room += 16
        enlarge(&self.qos_usage, room, sizeof(double))
        enlarge(&s.put_off, room, sizeof(double))
        enlarge(&s.put_off_in, room, sizeof(int64_t))
        memset(self.qos_usage + self.qos_room, 0, <size_t>(room - self.qos_room) * sizeof(double))
        memset(s.put_off_in + self.qos_room, 0, <size_t>(room - self.qos_room) * sizeof(int64_t))
        self.qos_room = room
        return 0

    cdef int room_for(self, int32_t job, int32_t records) except -1:
        """Room for a job of this number with so many records."""
        cdef slurm_t *s = &self.s
        cdef int32_t room
        if job >= s.jobs:
            room = max(2 * s.jobs, job + 64)
            enlarge(&s.job, room, sizeof(slurm_job_t))
            memset(s.job + s.jobs, 0, <size_t>(room - s.jobs) * sizeof(slurm_job_t))
            s.jobs = room
        if s.records + records > s.record_room:
            room = 2 * s.record_room + records + 64
            enlarge(&s.record, room, sizeof(slurm_record_t))
            s.record_room = room
            enlarge(&s.queue, room, sizeof(int32_t))
            enlarge(&self.scratch, room, sizeof(int32_t))
            enlarge(&self.created, room, sizeof(int32_t))
        return 0

    def submit(self, job, double now, double nice=0.0):
        """A job may start from now on: it has been submitted, and depends on nothing."""
        cdef slurm_t *s = &self.s
        cdef slurm_job_t *j
        cdef slurm_record_t *r
        cdef int32_t at = job.job, form
        self.periods(now - 1)
        if job.array:
            raise ValueError("the compiled controller takes no arrays")
        self.room_for(at, len(job.partitions))
        weights, priorities, cluster = self.priorities.weights, self.priorities, self.priorities.cluster
        flags, ask = weights.flags, job.ask
        j = &s.job[at]
        memset(j, 0, sizeof(slurm_job_t))
        j.first, j.records = s.records, len(job.partitions)
        j.association = self.trees.get((job.account, job.user), -1)
        j.user, j.pair = self.number(self.users, job.user), self.number(self.pairs, (job.account, job.user))
        if len(self.users) > s.users or len(self.pairs) > s.pairs:
            self.more_users()
        j.qos = self.number(self.qos, job.qos)
        self.more_qos()
        self.set_asked(j, job.amounts)
        j.reservation = self.reservations[job.reservation] if job.reservation else -1
        j.preempted = -INFINITY
        j.nodes, j.submit, j.limit = max(1, ask.min_nodes), job.submit, job.limit
        j.eligible, j.accrue, j.nice, j.cpus = now, -1.0, nice, ask.need
        if j.association >= 0:
            own = priorities.accounts.find(job.account, job.user).own_priority()
            j.of_association = _normal(own, cluster.largest_assoc, "NO_NORMAL_ASSOC" in flags) * weights.assoc
        own = priorities.qos.get(job.qos, 0)
        j.of_qos = _normal(own, cluster.largest_qos, "NO_NORMAL_QOS" in flags) * weights.qos
        j.usage_factor = priorities.usage_factors.get(job.qos, 1.0)
        for name in job.partitions:
            form = self.form_of(ask, name)
            part, totals = self.site.partitions[name], priorities.partitions[name]
            r = &s.record[s.records]
            memset(r, 0, sizeof(slurm_record_t))
            r.job, r.form, r.partition, r.tier = at, form, self.parts[name], part.priority_tier
            r.allowed, r.chain = self.allows(job, name), self.chains.find(job, name)
            self.set_least(r, j)
            r.of_partition = _normal(totals.job_factor, cluster.largest_job_factor, "NO_NORMAL_PART" in flags)
            r.of_partition *= weights.partition
            r.of_resources = 0.0
            for kind, weight in weights.tres.items():
                amount, total = job.amounts.get(kind, 0.0), totals.tres.get(kind, 0.0)
                r.of_resources += _normal(amount, total, "NO_NORMAL_TRES" in flags) * weight
            r.limit = 60.0 * job.limit
            if part.max_time is not None:
                r.limit = min(r.limit, part.max_time)
            s.records += 1
        form = s.record[j.first].form
        slurm_reset_keys(s, s.form[form].nodes)
        slurm_choose(s, &s.form[form], s.form[form].nodes, &s.empty)
        self.fresh.append(at)
        self.prioritise(at, now)
        self.join(at)
        self.requested = True

    cdef int set_asked(self, slurm_job_t *j, amounts) except -1:
        """The amounts that a job requests; all others are 0."""
        j.asked[<int32_t>SLURM_CPU], j.asked[<int32_t>SLURM_MEMORY] = amounts.get("cpu", 0.0), amounts.get("mem", 0.0)
        j.asked[<int32_t>SLURM_NODE] = amounts.get("node", 0.0)
        j.asked[<int32_t>SLURM_BILLING] = amounts.get("billing", 0.0)
        j.asked[<int32_t>SLURM_GPU] = amounts.get("gres/gpu", 0.0)
        return 0

    cdef void set_least(self, slurm_record_t *r, const slurm_job_t *j) noexcept:
        """The least amounts that limits ever test: of any nodes that may be found, and of a job that finds none."""
        cdef const slurm_form_t *f = &self.s.form[r.form]
        cdef double cpus = f.need if f.per_task == 1 else f.least * f.per_task
        cdef double memory = f.memory * (cpus if f.per_cpu else f.least) if self.s.manages_memory else 0.0
        cdef int32_t i
        r.least[<int32_t>SLURM_CPU] = r.least[<int32_t>SLURM_BILLING] = cpus
        r.least[<int32_t>SLURM_MEMORY], r.least[<int32_t>SLURM_NODE] = memory, f.least
        # GPUs of victims are not free yet when limits are tested.
        r.least[<int32_t>SLURM_GPU] = 0.0 if self.s.preempts else f.gpus * f.least
        for i in range(<int32_t>SLURM_RESOURCES):
            r.least[i] = min(r.least[i], j.asked[i])

    def withdraw(self, int32_t job):
        """A waiting job is gone."""
        if job >= self.s.jobs:
            return
        self.later.pop(job, None)
        if self.s.job[job].state == SLURM_WAITING:
            self.drop(job)
        self.s.job[job].state = SLURM_GONE

    def end(self, int32_t job, double now, *, again=None):
        """A running job has ended; one that was requeued is submitted again at a time, and waits for a delay."""
        cdef slurm_job_t *j = &self.s.job[job]
        cdef slurm_run_t *run = j.run
        self.periods(now - 1)
        slurm_leave(&self.s, run)
        self.finish(run, now, -INFINITY if again is None else again)

    cdef int finish(self, slurm_run_t *run, double now, double again) except -1:
        """A run is over, and holds nothing any more; its job is submitted again at a time that is not -infinity."""
        cdef int32_t job = run.job
        cdef slurm_job_t *j = &self.s.job[job]
        self.charge(run, now)
        self.reserved_runs -= j.reservation >= 0
        free(run)
        if again == -INFINITY:
            j.state = SLURM_GONE
        else:
            j.submit = max(again, j.submit + 1)
            j.eligible, j.accrue, j.state = again + REQUEUE_DELAY, -1.0, SLURM_LATER
            self.later[job] = None
        self.at_once = True
        return 0

    def node(self, int32_t node, bint up):
        """A node goes down, or comes back."""
        cdef uint64_t bit = <uint64_t>1 << (node & 63)
        if up:
            self.s.up[node >> 6] |= bit
            self.requested = True
        else:
            self.s.up[node >> 6] &= ~bit

    # -- the queue

    cdef bint goes_before(self, int32_t one, int32_t other) noexcept:
        """Jobs of reservations, then by tier, priority, submission; a job's records in the order of its partitions."""
        cdef slurm_record_t *a = &self.s.record[one]
        cdef slurm_record_t *b = &self.s.record[other]
        cdef double first, second
        cdef bint reserved = self.s.job[a.job].reservation >= 0
        if reserved != (self.s.job[b.job].reservation >= 0):
            return reserved
        if a.tier != b.tier:
            return a.tier > b.tier
        if a.priority != b.priority:
            return a.priority > b.priority
        first, second = self.s.job[a.job].submit, self.s.job[b.job].submit
        if first != second:
            return first < second
        if a.job != b.job:
            return a.job < b.job
        return one < other

    cdef void join(self, int32_t job) noexcept:
        """Into the queue with its records."""
        cdef slurm_t *s = &self.s
        cdef slurm_job_t *j = &s.job[job]
        cdef int32_t i, low, high, middle
        j.state = SLURM_WAITING
        self.waiting += 1
        self.stale = True
        for i in range(j.first, j.first + j.records):
            if not s.record[i].allowed:
                continue
            s.in_queue[s.record[i].partition] += 1
            if self.unordered:
                self.created[self.n_created] = i
                self.n_created += 1
                continue
            low, high = 0, s.queued
            while low < high:
                middle = (low + high) // 2
                if self.goes_before(s.queue[middle], i):
                    low = middle + 1
                else:
                    high = middle
            memmove(s.queue + low + 1, s.queue + low, <size_t>(s.queued - low) * sizeof(int32_t))
            s.queue[low] = i
            s.queued += 1

    cdef void drop(self, int32_t job) noexcept:
        """Out of the queue."""
        cdef slurm_t *s = &self.s
        cdef int32_t i, k = 0, n = self.n_created if self.unordered else s.queued
        cdef int32_t *records = self.created if self.unordered else s.queue
        self.waiting -= 1
        self.stale = True
        for i in range(n):
            if s.record[records[i]].job == job:
                s.in_queue[s.record[records[i]].partition] -= 1
            else:
                records[k] = records[i]
                k += 1
        if self.unordered:
            self.n_created = k
        else:
            s.queued = k

    cdef void arrange(self, double now) noexcept:
        """Sort the queue from `created` where needed: all records but those of reservations that are not active."""
        cdef slurm_t *s = &self.s
        cdef int32_t i
        if not self.unordered or not (self.stale or s.n_booked):
            return
        s.queued = 0
        for i in range(self.n_created):
            if slurm_reservation_open(s, &s.job[s.record[self.created[i]].job], now):
                s.queue[s.queued] = self.created[i]
                s.queued += 1
        self.sort_halves(s.queue, s.queued)
        self.stale = False

    cdef void sort_halves(self, int32_t *records, int32_t n) noexcept:
        """Sort both halves, and merge them: the first of the second half comes before the first of the other only if it
        goes before it."""
        cdef int32_t half = n // 2, i = 0, k = n // 2, at
        if n < 2:
            return
        self.sort_halves(records, half)
        self.sort_halves(records + half, n - half)
        for at in range(n):
            if i < half and (k == n or not self.overtakes(records[k], records[i])):
                self.scratch[at] = records[i]
                i += 1
            else:
                self.scratch[at] = records[k]
                k += 1
        memcpy(records, self.scratch, <size_t>n * sizeof(int32_t))

    cdef bint overtakes(self, int32_t one, int32_t other) noexcept:
        """Whether a record goes before another that is older, with preemption."""
        cdef slurm_record_t *a = &self.s.record[one]
        cdef slurm_record_t *b = &self.s.record[other]
        cdef int32_t first = slurm_class(&self.s, a.job, a.partition)
        cdef int32_t second = slurm_class(&self.s, b.job, b.partition)
        if slurm_takes(&self.s, second, first):
            return False
        return slurm_takes(&self.s, first, second) or self.goes_before(one, other)

    cdef void sort(self) noexcept:
        """The queue after all priorities have changed: runs of one record each are merged until one is left."""
        cdef slurm_t *s = &self.s
        cdef int32_t width = 1, low, middle, high, i, k, at
        cdef int32_t *source = s.queue
        cdef int32_t *into = self.scratch
        while width < s.queued:
            low = 0
            while low < s.queued:
                middle, high = min(low + width, s.queued), min(low + 2 * width, s.queued)
                i, k = low, middle
                for at in range(low, high):
                    if i < middle and (k >= high or not self.goes_before(source[k], source[i])):
                        into[at] = source[i]
                        i += 1
                    else:
                        into[at] = source[k]
                        k += 1
                low += 2 * width
            source, into = into, source
            width *= 2
        s.queue, self.scratch = source, into

    # -- when it acts

    def next(self, double now):
        """The next second in which it may do something if nothing happens before; infinite if there is none."""
        cdef double soon = INFINITY
        cdef int32_t i
        for i in range(self.s.n_running):
            if self.s.by_end[i].end >= soon and not self.reserved_runs:
                break
            soon = min(soon, self.s.by_end[i].run.kill_at)
        for job in self.later:
            soon = min(soon, self.s.job[<int32_t>job].eligible)
        for until in self.dirty.values():
            soon = min(soon, <double>until)
        if self.waiting:
            soon = min(soon, min(self.cycle, self.full))
            if self.requested:
                soon = min(soon, self.asked + self.delay)
            soon = min(soon, self.edge)
        return max(now + 1, soon)

    cdef double grid(self, double now, double step):
        """The first second after now in which a loop with a period acts."""
        return self.begin + step * (floor((now - self.begin) / step) + 1)

    # -- what it does

    def decide(self, double now):
        """Everything that is due in this second."""
        cdef slurm_t *s = &self.s
        cdef slurm_run_t *run
        cdef int32_t i
        cdef int code
        cdef bint due_full, due_cycle
        acts = SlurmActs()
        self.periods(now)
        over = []
        if s.n_running and (s.by_end[0].end <= now or self.reserved_runs):
            over = [s.running[i].job for i in range(s.n_running) if s.running[i].kill_at <= now]
        for job in over:
            run = s.job[<int32_t>job].run
            self.stop(run, now, acts, run.warned and self.requeues[slurm_class(s, run.job, run.partition)])
        for node in [node for node, until in self.dirty.items() if until <= now]:
            del self.dirty[node]
            s.cleaning[<int32_t>node >> 6] &= ~(<uint64_t>1 << (<int32_t>node & 63))
            self.at_once = True
        for job in [job for job in self.later if s.job[<int32_t>job].eligible <= now]:
            del self.later[job]
            self.fresh.append(job)
            self.join(job)
        if s.n_booked:
            slurm_book(s, now)
            if self.edge <= now:
                self.requested = True
                self.edge = self.edge_after(now)
        due_full, due_cycle = self.full <= now, self.cycle <= now
        if due_full:
            self.full = self.grid(now, self.full_step)
        if due_cycle:
            self.cycle = self.grid(now, self.cycle_step)
        if not self.waiting:
            self.requested = self.at_once = False
            return acts
        if self.at_once or (self.requested and now - self.asked >= self.delay):
            if not self.at_once:
                self.asked = now
            self.at_once = self.requested = False
            self.work(now, acts, slurm_pass(s, now, self.begin_loop(now, False)))
        if due_full:
            self.work(now, acts, slurm_pass(s, now, self.begin_loop(now, True)))
        if due_cycle and self.backfills:
            self.begin_loop(now, False)
            with nogil:          # most of the time of a run: threads of a sweep share the processors
                code = slurm_cycle(s, now)
            self.work(now, acts, code)
        return acts

    cdef bint begin_loop(self, double now, bint full) except -1:
        """Building the queue notices that jobs are eligible; limits count usage as it is then."""
        cdef slurm_job_t *j
        cdef slurm_tally_t *tally
        cdef int32_t i
        for job in self.fresh:
            j = &self.s.job[<int32_t>job]
            if j.state == SLURM_WAITING and j.accrue < 0:
                j.accrue = j.eligible
        self.fresh.clear()
        self.arrange(now)
        if self.chains.count_usage:
            for i in range(self.s.tallies):
                tally = &self.s.tally[i]
                if tally.qos >= 0:
                    tally.used = self.qos_usage[tally.qos]
                elif tally.account >= 0:
                    tally.used = self.tree[tally.account].usage
        return full

    cdef int work(self, double now, SlurmActs acts, int code) except -1:
        """What a loop has started."""
        cdef slurm_t *s = &self.s
        cdef slurm_run_t *run
        cdef slurm_job_t *j
        cdef int32_t i, k
        cdef double until
        cdef SlurmStart start
        if code != OK:
            raise MemoryError
        for i in range(s.n_started):
            run = s.started[i]
            j = &s.job[run.job]
            self.drop(run.job)
            j.accrue = -1.0
            run.kill_at = INFINITY
            if isfinite(run.end):
                run.kill_at = self.check_after(run.end + self.over[run.partition])
            if j.reservation >= 0:
                self.reserved_runs += 1
                until = s.booked[j.reservation].end + self.over_run
                if isfinite(until):      # and is noticed after it
                    run.reserved_until = self.begin + TIME_CHECK * (floor((until - self.begin) / TIME_CHECK) + 1.0)
                    run.kill_at = min(run.kill_at, run.reserved_until)
            if s.form[s.record[j.first].form].takes_whole:
                j.cpus = 0.0
                for k in range(run.n):
                    j.cpus += s.empty.cores[run.nodes[k]]
            run.billing = self.billing(run)
            start = SlurmStart.__new__(SlurmStart)
            start.job = run.job
            start.nodes = [run.nodes[k] for k in range(run.n)]
            start.cpus = [run.cpus[k] for k in range(run.n)]
            acts.start.append(start)
        for i in range(s.n_preempted):
            run = s.preempted[i].run
            s.job[s.preempted[i].by].preempted = now
            k = slurm_class(s, run.job, run.partition)
            if s.grace[k] > 0.0:
                run.warned = True
                slurm_end_at(s, run, now + s.grace[k])
                run.kill_at = min(self.check_after(run.end), run.reserved_until)
            else:
                self.stop(run, now, acts, self.requeues[k])
        return 0

    cdef double check_after(self, double time) noexcept:
        """The first look at time limits from a time on."""
        return self.begin + TIME_CHECK * ceil((time - self.begin) / TIME_CHECK)

    cdef double billing(self, slurm_run_t *run) except? -1.0:
        """What a run counts per second."""
        name = list(self.parts)[run.partition]
        weights = self.priorities.billing.get(name, {})
        if not weights:
            return run.held[<int32_t>SLURM_CPU]
        amounts = {"cpu": run.held[<int32_t>SLURM_CPU], "mem": run.held[<int32_t>SLURM_MEMORY]}
        amounts |= {"node": run.held[<int32_t>SLURM_NODE], "gres/gpu": run.held[<int32_t>SLURM_GPU]}
        amounts["billing"] = run.held[<int32_t>SLURM_BILLING]
        weighed = [amounts.get(kind, 0.0) * weight for kind, weight in weights.items()]
        return max(weighed) if "MAX_TRES" in self.priorities.weights.flags else sum(weighed)

    cdef int stop(self, slurm_run_t *run, double now, SlurmActs acts, bint again) except -1:
        """End a run, which may have left `running` already; its job waits again or not."""
        cdef int32_t i, job = run.job
        cdef bint started_now = any(each.job == job for each in acts.start)
        if started_now:          # its start has not been reported
            acts.start[:] = [each for each in acts.start if each.job != job]
        if not (started_now and again):          # that one only goes on waiting
            acts.stop.append((job, again))
        for i in range(run.n):
            self.dirty[run.nodes[i]] = now + CLEAN_UP
            self.s.cleaning[run.nodes[i] >> 6] |= <uint64_t>1 << (run.nodes[i] & 63)
        if self.s.job[job].run != NULL:
            slurm_leave(&self.s, run)
        self.finish(run, now, now + CLEAN_UP if again else -INFINITY)
        self.at_once = False     # its nodes are not free before they have reported
        return 0

    # -- priorities

    cdef int periods(self, double now) except -1:
        """Usage, fair share and priorities of all calculation periods up to now."""
        cdef slurm_t *s = &self.s
        cdef int32_t i
        cdef double time, factor
        cdef bint done = False
        while self.s.last_period + self.period <= now:
            time = self.s.last_period + self.period
            if not s.n_running:
                # Usage only decays: all periods up to now are one.
                time = self.s.last_period + self.period * floor((now - self.s.last_period) / self.period)
            if self.classic:
                self.begin_period()
            factor = pow(self.rate, time - self.s.last_period)
            for i in range(self.tree_n):
                self.tree[i].usage *= factor
            for i in range(<int32_t>len(self.qos)):
                self.qos_usage[i] *= factor
            for i in range(s.tallies):
                s.tally[i].summed = False
            for i in range(s.n_running):
                self.charge(s.running[i], time)
            self.s.last_period = time
            done = True
        if done and (self.waiting or self.later):
            if not self.classic:
                self.rank_all()
            for i in range(self.n_created):
                self.prioritise(s.record[self.created[i]].job, self.s.last_period)
            for i in range(0 if self.unordered else s.queued):
                self.prioritise(s.record[s.queue[i]].job, self.s.last_period)
            for job in self.later:
                self.prioritise(job, self.s.last_period)
            self.stale = True
            if not self.unordered:
                self.sort()
        return 0

    cdef void charge(self, slurm_run_t *run, double now) noexcept:
        """Add what a job has used since the last period to its association and all above."""
        cdef double seconds = max(0.0, now - max(self.s.last_period, run.start)), added
        cdef int32_t each = self.s.job[run.job].association
        if seconds <= 0.0:
            return
        added = seconds * pow(self.rate, seconds) * run.billing * run.usage_factor
        self.qos_usage[self.s.job[run.job].qos] += added
        while each >= 0:
            self.tree[each].usage += added
            each = self.tree[each].parent

    cdef double size_of(self, const slurm_job_t *j) noexcept:
        """Size of the job as a share of the cluster, 0 to 1."""
        cdef double nodes = self.cluster_nodes, cpus = self.cluster_cpus, size
        if self.by_time:
            size = max(j.nodes * cpus / nodes, j.cpus)
            size = size / max(1.0, j.limit) / cpus
            size = 1.0 - size if self.favors_small else size
        elif self.favors_small:
            size = (nodes - j.nodes) / nodes
            if j.cpus != 0.0:
                size = (size + (cpus - j.cpus) / cpus) / 2
        else:
            size = j.nodes / nodes
            if j.cpus != 0.0:
                size = (size + j.cpus / cpus) / 2
        return min(1.0, max(0.0, size))

    cdef int prioritise(self, int32_t job, double now) except -1:
        """Compute a job's priority in each of its partitions."""
        cdef slurm_job_t *j = &self.s.job[job]
        cdef slurm_record_t *r
        cdef int32_t i
        cdef double age, value, share
        cdef int64_t found
        if self.basic:           # in order of submission
            if not self.s.record[j.first].priority:
                for i in range(j.first, j.first + j.records):
                    self.s.record[i].priority = FIRST_PRIORITY - <int64_t>len(self.numbered)
                self.numbered.add(job)
            return 0
        age = 0.0 if j.accrue < 0 else max(0.0, now - j.accrue)
        if self.max_age <= 0 or age >= self.max_age:
            age = 1.0 if age > 0 else 0.0
        else:
            age = max(0.0, age) / self.max_age
        share = 0.0
        if j.association >= 0:
            share = self.classic_factor(j.association) if self.classic else self.tree[j.association].factor
        for i in range(j.first, j.first + j.records):
            r = &self.s.record[i]
            value = age * self.age
            value += j.of_association
            value += share * self.fairshare
            value += self.size_of(j) * self.job_size
            if j.records == 1:
                value += r.of_partition
            value += j.of_qos
            value += r.of_resources
            value -= j.nice
            if j.records > 1:
                value += r.of_partition
            value = max(1.0, value)
            found = LARGEST_PRIORITY if value >= <double>LARGEST_PRIORITY else <int64_t>value
            r.priority = max(found, r.priority) if self.only_rises else found
        return 0


def _level(parent):
    """What shares a level: the children, and those of accounts with ``fairshare=parent`` in the account's stead."""
    for child in parent.children:
        if child.shares == -1 and not child.user:
            yield from _level(child)
        else:
            yield child


cdef double _normal(double value, double largest, bint raw):
    return value if raw else value / largest if largest != 0.0 else 0.0
