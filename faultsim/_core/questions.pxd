# Decisions of a caller or a policy in Python, other than passes (model.md#decisions): each is a question.

from libc.stdint cimport int32_t

from faultsim._core.state cimport resume_t, sim_t

# Poses a question about a job (-1: none) for which sim_t.asked.on is set.  A policy in Python answers at once: returns
# the value of `resume`, or PYTHON_ERROR.  A caller answers later: returns DECIDE.
cdef int pose_question(sim_t *s, int question, int32_t job, resume_t resume) noexcept nogil
# Questions of a kind are answered by a policy in Python, which the engine keeps, or (None) by the caller.
cdef int open_questions(sim_t *s, int question, object policy) except -1
