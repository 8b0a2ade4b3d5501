"""Which limits of QOS and associations hold for which jobs, in the order of their tests (model.md#slurm-limits)."""

from libc.stdint cimport int32_t
from libc.string cimport memset

from faultsim._core.containers.memory cimport arena_t, arena_zeros, enlarged
from faultsim._core.slurm.rules cimport (
    SLURM_LEAST_ASKED, SLURM_MOST_ASKED, SLURM_MOST_HELD, SLURM_MOST_JOBS, SLURM_MOST_LEFT,
    SLURM_MOST_MINUTES, SLURM_MOST_ON_NODE, SLURM_MOST_USED, SLURM_MOST_WALL, SLURM_OTHER,
    slurm_chain_t, slurm_check_t, slurm_limit_t, slurm_t, slurm_tally_t,
)

RESOURCES = ("cpu", "mem", "node", "billing", "gres/gpu")
# Limits on amounts in the order of their tests: whether they are those of all jobs of a QOS or an association, of one
# job (of associations only of the user's own), or of a user or an account in a QOS.
AMOUNTS = (
    ("GrpTRESMins", <int32_t>SLURM_MOST_USED, "group"), ("GrpTRES", <int32_t>SLURM_MOST_HELD, "group"),
    ("GrpTRESRunMins", <int32_t>SLURM_MOST_LEFT, "group"), ("MaxTRESMinsPerJob", <int32_t>SLURM_MOST_MINUTES, "job"),
    ("MaxTRESPerJob", <int32_t>SLURM_MOST_ASKED, "job"), ("MaxTRESPerNode", <int32_t>SLURM_MOST_ON_NODE, "job"),
    ("MinTRESPerJob", <int32_t>SLURM_LEAST_ASKED, "qos"), ("MaxTRESPerAccount", <int32_t>SLURM_MOST_HELD, "account"),
    ("MaxTRESPerUser", <int32_t>SLURM_MOST_HELD, "user"),
)
JOBS = ("GrpJobs", "MaxJobs", "MaxJobsPerAccount", "MaxJobsPerUser", "MaxWall")
# Most accounts on the way to root.
DEPTH = 100


cdef class Chains:
    """Chains of limits, made when the first job of each kind comes."""

    cdef int open(self, slurm_t *s, arena_t *arena, site, dict qos_numbers, dict accounts) except -1:
        """Read the configuration; QOS and accounts have the numbers of usage."""
        self.s, self.arena, self.conf = s, arena, site.conf
        self.qos_numbers, self.accounts = qos_numbers, accounts
        self.known, self.numbers = {}, {}
        words = {word.lower() for word in self.conf.settings["AccountingStorageEnforce"]}
        self.enforced = bool(words & {"limits", "safe", "qos", "all", "1"})
        s.safe, s.limit_stops = "safe" in words, bool(self.conf.settings["assoc_limit_stop"])
        self.of_partition = {part.name: part.qos for part in self.conf.partitions}
        self.rows = {(each.account, each.user): each for each in self.conf.associations}
        return 0

    cdef int32_t find(self, job, str partition) except -2:
        """The chain of a job in a partition; -1 if no limit counts or refuses it."""
        cdef int32_t found
        if not self.enforced:
            return -1
        part_qos = self.of_partition[partition]
        key = (part_qos, job.qos, job.account, job.user)
        if key not in self.known:
            before, after, tallies = self.checks_of(part_qos, job)
            self.known[key] = self.enter(before, after, tallies)
        found = self.known[key]
        return found

    def owners(self, part_qos, job):
        """QOS, associations and accounts with limits for a job, in their order, and whether limits of one job hold."""
        conf = self.conf
        names = [part_qos, job.qos]
        own = conf.qos.get(job.qos)
        if own is not None and "OverPartQOS" in own.flags:
            names.reverse()
        for name in dict.fromkeys(filter(None, names)):
            if name in conf.qos and is_limited(conf.qos[name].limits):
                yield ("QOS", name), conf.qos[name].limits, True
        account, user = job.account, job.user
        for _ in range(DEPTH):
            row = self.rows.get((account, user))
            if row is not None and is_limited(row.limits):
                yield (account, user), row.limits, bool(user)
            if not user:
                account = "" if row is None else row.parent
                if not account:
                    return
            user = ""

    def checks_of(self, part_qos, job):
        """Tests before and after the selection of nodes, and the tallies in which a job counts."""
        before, after, tallies, off = [], [], [], set()
        for name, limits, own in self.owners(part_qos, job):
            of_qos = name[0] == "QOS"
            of = {"group": self.tally_of(name, limits, ("GrpTRES",))}
            if of_qos and ("MaxTRESPerAccount" in limits or "MaxJobsPerAccount" in limits):
                of["account"] = self.tally_of((*name, "account", job.account), limits, ("MaxTRESPerAccount",))
            if of_qos and ("MaxTRESPerUser" in limits or "MaxJobsPerUser" in limits):
                of["user"] = self.tally_of((*name, "user", job.user), limits, ("MaxTRESPerUser",))
            tallies += of.values()
            self.on_jobs(before, limits, of, of_qos, own, off)
            for kind, test, share in AMOUNTS:
                if share == "job" and not own or share in ("qos", "account", "user") and not of_qos:
                    continue
                amounts = limits.get(kind, {})
                for resource in sorted(amounts, key=resource_number):
                    if not of_qos and (kind, resource) in off:
                        continue
                    if of_qos:
                        off.add((kind, resource))
                    self.count_usage = self.count_usage or test == <int32_t>SLURM_MOST_USED
                    limit = (test, of.get(share, -1), resource_number(resource), amounts[resource])
                    after.append((*limit, of_qos and share == "group"))
        return before, after, tallies

    def on_jobs(self, before, limits, of, of_qos, own, off):
        """Tests of numbers of jobs and of times."""
        cdef int32_t jobs = <int32_t>SLURM_MOST_JOBS
        if "GrpJobs" in limits and "GrpJobs" not in off:
            if of_qos:
                off.add("GrpJobs")
            before.append((jobs, of["group"], 0, limits["GrpJobs"], of_qos))
        if of_qos:
            for kind, share in (("MaxJobsPerAccount", "account"), ("MaxJobsPerUser", "user")):
                if kind in limits:
                    off.add("MaxJobs")
                    before.append((jobs, of[share], 0, limits[kind], False))
        elif own and "MaxJobs" in limits and "MaxJobs" not in off:
            before.append((jobs, of["group"], 0, limits["MaxJobs"], False))
        if own and "MaxWall" in limits and "MaxWall" not in off:
            off.add("MaxWall")
            before.append((<int32_t>SLURM_MOST_WALL, -1, 0, limits["MaxWall"], False))

    def tally_of(self, key, limits, counting):
        """The number of the tally of some jobs; `counting` are the limits that may count their nodes."""
        of_qos, nodes = key[0] == "QOS", any("node" in limits.get(name, {}) for name in counting)
        qos = self.qos_numbers.get(key[1], -1) if of_qos else -1
        return self.tally(key, qos, -1 if of_qos else self.accounts.get(key, -1), nodes)

    cdef int32_t tally(self, tuple key, int32_t qos, int32_t account, bint nodes) except -1:
        cdef slurm_t *s = self.s
        cdef slurm_tally_t *tally
        cdef int32_t room = 2 * s.tally_room + 64
        if key in self.numbers:
            return self.numbers[key]
        if s.tallies == s.tally_room:
            if not enlarged(&s.tally, room, sizeof(slurm_tally_t)):
                raise MemoryError
            s.tally_room = room
        tally = &s.tally[s.tallies]
        memset(tally, 0, sizeof(slurm_tally_t))
        tally.qos, tally.account = qos, account
        if nodes:
            tally.on_node = <int32_t *>self.zeros(s.nodes, sizeof(int32_t))
        self.numbers[key] = s.tallies
        s.tallies += 1
        return s.tallies - 1

    cdef void *zeros(self, size_t count, size_t each) except NULL:
        cdef void *block = arena_zeros(self.arena, max(<size_t>1, count), each)
        if block == NULL:
            raise MemoryError
        return block

    cdef slurm_check_t *checks(self, list rows) except NULL:
        cdef slurm_check_t *found = <slurm_check_t *>self.zeros(len(rows), sizeof(slurm_check_t))
        cdef int32_t i, kind
        for i, row in enumerate(rows):
            kind = row[0]
            found[i].kind = <slurm_limit_t>kind
            found[i].tally, found[i].resource, found[i].limit, found[i].of_group = row[1:]
        return found

    cdef int32_t enter(self, list before, list after, list tallies) except -2:
        cdef slurm_t *s = self.s
        cdef slurm_chain_t *chain
        cdef int32_t i, room = 2 * s.chain_room + 64
        if not tallies:
            return -1
        if s.chains == s.chain_room:
            if not enlarged(&s.chain, room, sizeof(slurm_chain_t)):
                raise MemoryError
            s.chain_room = room
        chain = &s.chain[s.chains]
        chain.n_before, chain.n_after, chain.tallies = len(before), len(after), len(tallies)
        chain.before, chain.after = self.checks(before), self.checks(after)
        chain.tally = <int32_t *>self.zeros(len(tallies), sizeof(int32_t))
        for i in range(chain.tallies):
            chain.tally[i] = tallies[i]
        s.chains += 1
        return s.chains - 1


def is_limited(limits):
    """Whether some of the limits are tested."""
    return any(name in JOBS or any(name == row[0] for row in AMOUNTS) for name in limits)


def resource_number(resource):
    """Its place in the order of tests."""
    return RESOURCES.index(resource) if resource in RESOURCES else <int32_t>SLURM_OTHER
