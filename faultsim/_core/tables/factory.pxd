# How a policy or a machine gets into a simulation: a function that reads its options and fills in its table.
#
# Every module of a policy or machine has capsules at module level, `NAME = factory(open_it)`; the registry of the face
# names them, and engine.pyx calls the capsules that it receives.  So no name of a policy appears in the core.
#
# `target` is the machine_t of a machine, which is opened first, the state of a policy for its parts (such as a strategy
# of rescheduling), the workflow_t of a scheduler of workflows, and else the sim_t.  `options` is the lowered policy,
# `columns` what Python has computed for the policies, by name (inputs.pxd), the `world` of the run, `n_jobs`, and the
# factories of `parts`.
# Called once, after the machine, the inputs and the per-job arrays are there: sim_t is ready but for the policies that
# come later (in order: machine; placement, order, scheduler, migration, recovery, checkpointing, rescheduling).  A
# factory checks nothing that the face has checked, and raises where the combination has no implementation.

ctypedef int (*factory_t)(void *target, dict options, dict columns) except -1

cdef object factory(factory_t open)
cdef int call_factory(object capsule, void *target, dict options, dict columns) except -1
