# Questions to somebody outside, besides passes (model.md#decisions).

from libc.stdint cimport int32_t

from faultsim._core.state cimport resume_t, sim_t

# Ask, where sim_t.asked.on says so, about a job (-1: none).  A policy in Python answers now, and `resume` goes on; the
# caller answers later: DECIDE.  Else what `resume` gives back, or PYTHON_ERROR.
cdef int ask(sim_t *s, int question, int32_t job, resume_t resume) noexcept nogil
# Questions of a kind are answered by a policy in Python, which the engine keeps, or (None) by the caller.
cdef int open_questions(sim_t *s, int question, object policy) except -1
